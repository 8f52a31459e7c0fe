#include <ATen/Parallel.h>

#include "framework/cli/progress.h"
#include "framework/cli/ready.h"
#include "framework/cli/transfer_line.h"
#include "framework/runs/forecast.h"
#include "framework/runs/machine.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;

constexpr double check_seconds = 0.5;  // per kind of training

std::string bytes(uint64_t count) { return byte_count(static_cast<int64_t>(count)); }

void print_cost(const Plan& plan, const Store* store, const RunOptions& options, size_t open) {
  const auto wanted = local_workers(options, open);
  Forecast forecast(plan, store, wanted, probe(plan, store, wanted, check_seconds));
  const auto each = forecast.worker_memory();
  const auto room = room_for_workers(wanted, each, options.memory);
  forecast.set_workers(room.workers);
  fmt::print("  time     about {} with {} workers on this machine, from a few steps of each kind\n",
             duration(forecast.left()), room.workers);
  fmt::print("  memory   about {}: {} workers of {}, and {} that they share; {} are free\n",
             bytes(room.workers * each + peak_memory()), room.workers, bytes(each),
             bytes(peak_memory()), bytes(available_memory()));
  std::error_code unknown;
  const auto folder = fs::exists(options.out) ? options.out : fs::path(".");
  fmt::print("  disk     about {} in the store; {} are free\n", bytes(forecast.disk()),
             bytes(fs::space(store == nullptr ? folder : store->root(), unknown).available));
}

}  // namespace

int check_command(const RunOptions& options) {
  at::set_num_threads(1);
  const auto ready = prepare(options);
  const auto folder = store_folder(options.store);
  // Checking makes no folder.
  const auto store = fs::exists(folder) ? std::optional<Store>(folder) : std::nullopt;
  std::map<std::string, std::pair<size_t, size_t>> kinds;  // kind -> all, stored
  size_t open = 0;
  for (const auto& job : ready.plan.jobs) {
    auto& [all, stored] = kinds[job.folder()];
    const bool is_stored = store && ready.plan.stored(job, *store);
    ++all;
    stored += is_stored ? 1 : 0;
    open += is_stored ? 0 : 1;
  }
  fmt::print("{}: {} cells\n", ready.experiment.name, ready.experiment.cells.size());
  for (const auto* kind : {"train", "signals", "attack", "measure"}) {
    const auto [all, stored] = kinds[kind];
    fmt::print("  {:<8} {:>5} jobs, {} stored, {} to do\n", kind, all, stored, all - stored);
  }
  if (open > 0) print_cost(ready.plan, store ? &*store : nullptr, options, open);
  return 0;
}

}  // namespace imprint
