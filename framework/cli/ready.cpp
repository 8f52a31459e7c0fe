#include "framework/cli/ready.h"

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "framework/config/load.h"
#include "framework/reports/assemble.h"
#include "framework/reports/stages.h"
#include "framework/runs/machine.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;

Value load(const RunOptions& options) {
  auto root = load_experiment_file(options.file, options.overrides);
  if (options.plugins.empty()) return root;
  auto* listed = root.find("plugins");
  std::vector<Value> all = listed == nullptr ? std::vector<Value>{} : listed->items;
  for (const auto& path : options.plugins) {
    all.push_back(Value::scalar(path));
    all.back().mark.file = "--plugin " + path;
  }
  root.set("plugins", Value::list(all));
  return root;
}

}  // namespace

Ready prepare(const RunOptions& options) {
  Ready ready;
  Problems problems;
  const auto root = load(options);
  try {
    ready.experiment = read_experiment(root, fs::path(options.file).stem().string());
  } catch (const ConfigError& error) {
    problems.add({}, error.what());
  }
  static const Value none;
  const auto* figures = root.find("figures");
  const auto* expect = root.find("expect");
  read_figures(figures == nullptr ? none : *figures, problems);
  ready.claims = read_claims(expect == nullptr ? none : *expect, problems);
  for (auto& claim : ready.claims) claim.scaled |= ready.experiment.scaled;
  check_until(ready.experiment, problems);
  problems.raise();
  ready.plan = make_plan(ready.experiment);
  return ready;
}

fs::path store_folder(const fs::path& asked) {
  if (!asked.empty()) return asked;
  const char* given = std::getenv("IMPRINT_STORE");
  return given == nullptr ? "store" : given;
}

Remaining remaining(const Plan& plan, const Store& store) {
  Remaining open;
  for (const auto& job : plan.jobs) {
    if (plan.stored(job, store)) continue;
    ++open.jobs;
    open.trainings += job.kind == Job::Kind::train ? 1 : 0;
  }
  return open;
}

size_t local_workers(const RunOptions& options, size_t jobs) {
  return std::min<size_t>(options.jobs > 0 ? options.jobs : std::thread::hardware_concurrency(),
                          std::max<size_t>(jobs, 1));
}

Room room_for_workers(size_t workers, uint64_t each, const std::string& asked) {
  Room room;
  const auto free = available_memory();
  room.memory = asked.empty() ? free : std::min(bytes_of(asked), free);
  // Enough for the coordinator and for the system to breathe.
  room.spare = std::min<uint64_t>(uint64_t{256} << 20, free / 20);
  const auto usable = asked.empty() ? room.memory - room.spare : room.memory;
  const auto fit = each == 0 ? workers : static_cast<size_t>(usable / each);
  room.workers = std::max<size_t>(std::min(workers, fit), 1);
  return room;
}

namespace {

double with_unit(const std::string& text, const std::map<std::string, double>& units,
                 const std::string& expected) {
  char* end = nullptr;
  const auto value = std::strtod(text.c_str(), &end);
  const auto unit = units.find(end);
  if (end == text.c_str() || !(value > 0) || value > 1e15 || unit == units.end())
    throw ConfigError(fmt::format("'{}' is not {}", text, expected));
  return value * unit->second;
}

}  // namespace

uint64_t bytes_of(const std::string& text) {
  return static_cast<uint64_t>(with_unit(text, {{"M", 1e6}, {"MB", 1e6}, {"G", 1e9}, {"GB", 1e9}},
                                         "a size of memory such as 512M or 4G"));
}

double seconds_of(const std::string& text) {
  return with_unit(text, {{"s", 1}, {"m", 60}, {"h", 3600}}, "a time such as 90s, 30m or 2h");
}

}  // namespace imprint
