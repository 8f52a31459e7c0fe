#include <ATen/Parallel.h>
#include <signal.h>

#include "framework/cli/ready.h"
#include "framework/reports/stages.h"
#include "framework/runs/interruption.h"
#include "framework/runs/run_record.h"
#include "framework/runs/worker.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;

// On a cluster, workers are ended by others than the jobs they do.
constexpr size_t most_deaths_elsewhere = 5;

int work_on(const LookOptions& options, const fs::path& progress) {
  const auto record = read_run_record(options.run);
  RunOptions run;
  run.file = (options.run / "config.yaml").string();
  auto ready = prepare(run);
  Stages stages(ready.experiment);
  if (fs::exists(options.run / stages_file)) {
    stages.restore(nlohmann::json::parse(read_file(options.run / stages_file)));
    ready.plan = make_plan(stages.current());
  }
  const auto planned = run_record(ready.plan, record.name, record.command, record.store);
  if (planned.digest() != record.digest())
    throw ConfigError(fmt::format(
        "{}: this program plans other jobs than the one that started the run: its data or its "
        "version differ here; give the command again: {}",
        options.run.string(), record.command));
  const Store store(record.store);
  fs::create_directories(progress / "failed");
  return work_through(ready.plan, store,
                      {progress, options.number, "its worker was killed", most_deaths_elsewhere});
}

}  // namespace

int work_command(const LookOptions& options) {
  at::set_num_threads(1);
  const LeaveOnSignals leave{SIGINT, SIGTERM, SIGUSR1};
  const auto progress = options.run / "progress";
  try {
    return work_on(options, progress);
  } catch (const StorageError& error) {
    tell_stuck(progress, error.what());
    fmt::print(stderr, "imprint: {}\n", error.what());
    return worker_stuck;
  } catch (const std::exception& error) {
    // Whatever this node refuses, others of the array will, and so would the array given again.
    tell_stuck(progress, error.what());
    throw;
  }
}

}  // namespace imprint
