#include <set>

#include "framework/cli/commands.h"
#include "framework/cli/ready.h"
#include "framework/cli/transfer_line.h"
#include "framework/runs/run_record.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;

using Entry = std::pair<std::string, std::string>;  // kind, address

uint64_t bytes_in(const fs::path& folder) {
  uint64_t bytes = 0;
  std::error_code gone;
  for (const auto& file : fs::recursive_directory_iterator(folder, gone))
    if (file.is_regular_file(gone)) bytes += file.file_size(gone);
  return bytes;
}

// Everything that the runs of a store need; also the addresses of trainings that are not done.
struct Needed {
  std::set<Entry> entries;
  std::set<std::string> unfinished;
};

Needed needed_by(const std::vector<fs::path>& runs, const Store& store) {
  Needed needed;
  for (const auto& run : runs) {
    for (const auto& job : read_run_record(run).jobs) {
      needed.entries.insert(job.makes.begin(), job.makes.end());
      if (!is_stored(job, store)) needed.unfinished.insert(job.address);
    }
  }
  return needed;
}

bool is_needed(const Entry& entry, const Needed& needed) {
  const auto& [kind, address] = entry;
  if (kind != "checkpoint") return needed.entries.contains(entry);
  return needed.unfinished.contains(address.substr(0, address.find('-')));
}

struct Sum {
  size_t kept = 0, free = 0;
  uint64_t bytes = 0;
};

Sum collect(const std::string& kind, const Needed& needed, const Store& store, bool remove) {
  Sum sum;
  for (const auto& address : store.entries(kind)) {
    if (is_needed({kind, address}, needed)) {
      ++sum.kept;
      continue;
    }
    ++sum.free;
    sum.bytes += bytes_in(store.at(kind, address));
    if (remove) store.remove(kind, address);
  }
  return sum;
}

}  // namespace

int gc_command(const LookOptions& options) {
  const auto folder = store_folder(options.store);
  if (!fs::exists(folder))
    throw ConfigError(fmt::format("there is no store '{}'", folder.string()));
  const Store store(folder);
  const auto runs = runs_of(store);
  const auto needed = needed_by(runs, store);
  fmt::print("{}: used by {} runs\n", store.root().string(), runs.size());
  for (const auto& run : runs) fmt::print("  {}\n", run.string());
  uint64_t bytes = 0;
  size_t free = 0;
  for (const auto* kind :
       {"train", "snapshot", "signals", "attack", "measure", "checkpoint", "damaged"}) {
    const auto sum = collect(kind, needed, store, options.remove);
    if (sum.kept + sum.free == 0) continue;
    fmt::print("  {:<10} {:>6} needed, {:>6} {} ({})\n", kind, sum.kept, sum.free,
               options.remove ? "deleted" : "not", byte_count(static_cast<int64_t>(sum.bytes)));
    bytes += sum.bytes;
    free += sum.free;
  }
  if (options.remove) store.sweep();
  if (!options.remove && free > 0)
    fmt::print("{} could be freed: imprint gc --delete --store {}\n",
               byte_count(static_cast<int64_t>(bytes)), store.root().string());
  else
    fmt::print("{} freed\n", byte_count(static_cast<int64_t>(options.remove ? bytes : 0)));
  return 0;
}

}  // namespace imprint
