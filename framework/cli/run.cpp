#include <ATen/Parallel.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <thread>

#include "framework/cli/commands.h"
#include "framework/cli/progress.h"
#include "framework/cli/ready.h"
#include "framework/reports/assemble.h"
#include "framework/reports/cell_events.h"
#include "framework/reports/html.h"
#include "framework/reports/tables.h"
#include "framework/runs/machine.h"
#include "framework/runs/run_folder.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;

int terminal_width() {
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 120;
}

// How much of a plan has to be done.
struct Remaining {
  size_t trainings = 0, jobs = 0;
};

Remaining remaining(const Plan& plan, const Store& store) {
  Remaining open;
  for (const auto& job : plan.jobs) {
    if (plan.stored(job, store)) continue;
    ++open.jobs;
    open.trainings += job.kind == Job::Kind::train ? 1 : 0;
  }
  return open;
}

void write_results(const fs::path& folder, const Ready& ready, const Results& results,
                   const Store& store) {
  write_file(folder / "results.csv", results_csv(results));
  write_file(folder / "metrics.csv", metrics_csv(results));
  write_file(folder / "results.json", results_json(results).dump(1) + "\n");
  write_file(folder / "report.html", html_report(results, read_share("vega.js")));
  for (size_t i = 0; i < ready.experiment.cells.size(); ++i) {
    const auto& cell = ready.experiment.cells[i];
    const auto known = [&](const CellResult& each) { return each.id == cell.id; };
    if (std::any_of(results.cells.begin(), results.cells.end(), known))
      write_records(folder / "records" / (cell.id + ".npz"), cell, ready.plan.cells[i], store);
  }
}

// One event file per cell stays open; the usual limit is a thousand.
void allow_many_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

void log_line(const fs::path& folder, const nlohmann::json& json) {
  std::ofstream(folder / "log.jsonl", std::ios::app) << json.dump() << "\n";
}

void report_failures(const Outcome& outcome, const Plan& plan, const fs::path& folder) {
  for (const auto& [address, message] : outcome.failed) {
    std::string title = "a worker";
    for (const auto& job : plan.jobs)
      if (job.address == address) title = job.title;
    fmt::print(stderr, "imprint: failed: {}: {}\n", title, message);
  }
  if (!outcome.failed.empty())
    fmt::print(stderr, "imprint: whole messages are in {}; the same command tries again\n",
               (folder / "progress/failed").string());
}

}  // namespace

std::string read_share(const std::string& file) {
  const char* home = std::getenv("IMPRINT_HOME");
  std::error_code unknown;
  // Called without the launcher, the program lies two folders below its source tree.
  const auto tree = fs::read_symlink("/proc/self/exe", unknown).parent_path() / "../..";
  const auto path = (home == nullptr ? tree : fs::path(home)) / ".imprint/share" / file;
  return fs::exists(path) ? read_file(path) : "";
}

int run_command(const RunOptions& options) {
  at::set_num_threads(1);
  allow_many_files();
  auto ready = prepare(options);
  const Store store(store_folder(options));
  const auto opened =
      open_run_folder(options.out, ready.experiment.name, ready.experiment.resolved);
  const auto& folder = opened.path;
  write_file(folder / "config.yaml", to_yaml(ready.experiment.resolved));
  write_file(folder / "environment.json", environment().dump(1) + "\n");
  const auto open = remaining(ready.plan, store);
  const auto workers =
      std::min<size_t>(options.jobs > 0 ? options.jobs : std::thread::hardware_concurrency(),
                       std::max<size_t>(open.jobs, 1));
  log_line(folder, {{"event", "start"},
                    {"jobs", ready.plan.jobs.size()},
                    {"open", open.jobs},
                    {"workers", workers}});
  if (!options.quiet) {
    fmt::print(stderr, "imprint: {}: {} cells, {} jobs ({} trainings), {} stored; {}\n",
               ready.experiment.name, ready.experiment.cells.size(), ready.plan.jobs.size(),
               ready.plan.trainings.size(), ready.plan.jobs.size() - open.jobs,
               open.jobs == 0        ? std::string("nothing to do: everything comes from the store")
               : open.trainings == 0 ? fmt::format("{} to do, no training among them", open.jobs)
                                     : fmt::format("{} to do, {} trainings, {} workers", open.jobs,
                                                   open.trainings, workers));
  }
  CellEvents events(folder / "tensorboard", ready.experiment, ready.plan, store);
  ProgressLine progress(ready.plan, store, options.quiet);
  Outcome outcome;
  if (open.jobs > 0)
    outcome = run_workers(
        ready.plan, store, workers, folder / "progress",
        [&](const Progress& heard) {
          progress.hear(heard);
          if (heard.kind == Progress::Kind::epoch) events.epoch(heard.address, heard.row);
        },
        [&] { progress.draw(); });
  progress.finish();
  report_failures(outcome, ready.plan, folder);
  log_line(folder, {{"event", "end"},
                    {"done", outcome.done},
                    {"failed", outcome.failed.size()},
                    {"interrupted", outcome.interrupted}});
  if (outcome.interrupted) {
    fmt::print(
        stderr,
        "imprint: interrupted; {} jobs were finished and are kept. The same command goes on.\n",
        outcome.done);
    return 75;
  }
  auto results = assemble(ready.experiment, ready.plan, store);
  if (read_share("vega.js").empty())
    results.notes.push_back(
        "The figure bundle was not installed, so figures are not drawn; ./imprint build installs "
        "it.");
  results.verdicts = judge(ready.claims, results);
  events.finish(results);
  write_results(folder, ready, results, store);
  const bool complete = remaining(ready.plan, store).jobs == 0;
  if (complete) finish_run_folder(folder);
  fmt::print("{}\n", console_table(results, terminal_width()));
  fmt::print("report       {}\n", (folder / "report.html").string());
  fmt::print("results      {}\n", (folder / "results.csv").string());
  fmt::print("TensorBoard  ./imprint tensorboard {}\n", folder.string());
  return complete ? 0 : 1;
}

int check_command(const RunOptions& options) {
  at::set_num_threads(1);
  const auto ready = prepare(options);
  const auto folder = store_folder(options);
  // Checking makes no folder.
  const auto store = fs::exists(folder) ? std::optional<Store>(folder) : std::nullopt;
  std::map<std::string, std::pair<size_t, size_t>> kinds;  // kind -> all, stored
  for (const auto& job : ready.plan.jobs) {
    auto& [all, stored] = kinds[job.folder()];
    ++all;
    stored += store && ready.plan.stored(job, *store) ? 1 : 0;
  }
  fmt::print("{}: {} cells\n", ready.experiment.name, ready.experiment.cells.size());
  for (const auto* kind : {"train", "signals", "attack", "measure"}) {
    const auto [all, stored] = kinds[kind];
    fmt::print("  {:<8} {:>5} jobs, {} stored, {} to do\n", kind, all, stored, all - stored);
  }
  return 0;
}

}  // namespace imprint
