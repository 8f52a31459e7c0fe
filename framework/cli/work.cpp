#include <ATen/Parallel.h>
#include <signal.h>

#include <fstream>

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

}  // namespace

int work_command(const LookOptions& options) {
  at::set_num_threads(1);
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
  const LeaveOnSignals leave{SIGINT, SIGTERM, SIGUSR1};
  const auto progress = options.run / "progress";
  fs::create_directories(progress / "failed");
  try {
    return work_through(ready.plan, store,
                        {progress, options.number, "its worker was killed", most_deaths_elsewhere});
  } catch (const StorageError& error) {
    std::ofstream(progress / "stuck") << error.what() << "\n";
    fmt::print(stderr, "imprint: {}\n", error.what());
    return worker_stuck;
  }
}

}  // namespace imprint
