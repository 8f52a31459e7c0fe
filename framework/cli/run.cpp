#include <ATen/Parallel.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

#include "framework/cli/commands.h"
#include "framework/cli/progress.h"
#include "framework/cli/ready.h"
#include "framework/cli/run_end.h"
#include "framework/cli/transfer_line.h"
#include "framework/reports/assemble.h"
#include "framework/reports/cell_events.h"
#include "framework/reports/stages.h"
#include "framework/reports/tables.h"
#include "framework/runs/checkpoint.h"
#include "framework/runs/crew.h"
#include "framework/runs/interruption.h"
#include "framework/runs/machine.h"
#include "framework/runs/run_folder.h"
#include "framework/runs/run_record.h"
#include "framework/runs/slurm.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;

constexpr double probe_seconds = 0.1;  // per kind of training; the run itself teaches the rest
constexpr double save_seconds = 30;    // that workers get to save and leave
constexpr int most_repairs = 3;        // of one entry that is damaged in the store

// One `imprint run` from its plan to its results.
class Run {
 public:
  explicit Run(const RunOptions& options)
      : options_(options),
        ready_(prepare(options)),
        full_(ready_.experiment),
        store_(store_folder(options.store)),
        opened_(open_run_folder(options.out, ready_.experiment.name, ready_.experiment.resolved)),
        folder_(opened_.path) {
    store_.sweep();
    write_file(folder_ / "config.yaml", to_yaml(ready_.experiment.resolved));
    write_file(folder_ / "environment.json", environment().dump(1) + "\n");
    record_plan();
  }

  int go() {
    // Again as long as something in the store turns out to be damaged.
    std::map<std::string, int> repairs;
    while (true) {
      try {
        if (const auto code = work_in_stages()) return *code;
        return report();
      } catch (const DamagedEntry& damaged) {
        if (++repairs[damaged.address] > most_repairs) throw;
        store_.set_aside(damaged.kind, damaged.address);
        events_.reset();
        say("damaged in the store, set aside and computed again: {}", damaged.what());
      }
    }
  }

 private:
  template <class... Args>
  void say(fmt::format_string<Args...> text, Args&&... args) const {
    if (!options_.quiet)
      fmt::print(stderr, "imprint: {}\n", fmt::format(text, std::forward<Args>(args)...));
  }

  void record_plan() const {
    write_run_record(folder_, run_record(ready_.plan, ready_.experiment.name, options_.command,
                                         store_folder(options_.store)));
  }

  // Stage after stage, where the experiment asks for it; an exit code when the run ends here.
  std::optional<int> work_in_stages() {
    if (!stages_) stages_.emplace(full_);
    if (!stages_->wanted()) return work();
    while (true) {
      ready_.experiment = stages_->current();
      ready_.plan = make_plan(ready_.experiment);
      write_file(folder_ / stages_file, stages_->to_json().dump());
      record_plan();
      if (const auto code = work()) return code;
      const bool whole = remaining(ready_.plan, store_).jobs == 0;
      if (!whole || !stages_->advance(assemble(ready_.experiment, ready_.plan, store_)))
        return std::nullopt;
      events_.reset();
      say("the interval is not narrow enough yet: more shadows");
    }
  }

  // Who does the work: an array of Slurm's, or this machine.
  bool uses_slurm() {
    array_ = options_.launcher == "local" ? "" : slurm_array_at_work(folder_);
    return options_.launcher == "slurm" || !array_.empty();
  }

  // Everything that is not stored; an exit code when the run ends here.
  std::optional<int> work() {
    if (asked_to_leave() > 0) return leave();
    const auto open = remaining(ready_.plan, store_);
    if (open.jobs == 0) {
      announce(open, "");
      return std::nullopt;
    }
    return uses_slurm() ? work_on_slurm(open) : work_here(open);
  }

  // Between two pieces of work nothing is under way.
  std::optional<int> leave() const {
    return end_of_work({0, {}, true, ""}, ready_.plan, folder_, options_.command, "");
  }

  void clear_progress() const {
    fs::remove_all(folder_ / "progress");
    fs::create_directories(folder_ / "progress/failed");
  }

  std::optional<int> work_here(const Remaining& open) {
    const auto wanted = local_workers(options_, open.jobs);
    const auto costs = probe(ready_.plan, &store_, wanted, probe_seconds);
    if (asked_to_leave() > 0) return leave();
    Forecast forecast(ready_.plan, &store_, wanted, costs);
    const auto room = room_for_workers(wanted, forecast.worker_memory(), options_.memory);
    forecast.set_workers(room.workers);
    announce(open, fmt::format(", {} workers, about {}", room.workers, duration(forecast.left())));
    if (room.workers < wanted)
      say("{} workers instead of {}: each needs about {} of the {} of memory", room.workers, wanted,
          byte_count(static_cast<int64_t>(forecast.worker_memory())),
          byte_count(static_cast<int64_t>(room.memory)));
    clear_progress();
    LocalCrew how;
    how.workers = room.workers;
    how.spare_memory = room.spare;
    const auto crew = start_local_crew(ready_.plan, store_, folder_ / "progress", how);
    return watch(*crew, forecast, "");
  }

  std::optional<int> work_on_slurm(const Remaining& open) {
    SlurmOptions how{options_.workers, options_.slurm, fs::read_symlink("/proc/self/exe")};
    const bool fresh = array_.empty();
    if (fresh) {
      clear_progress();
      array_ = submit_slurm(folder_, how);
    }
    announce(open, fmt::format(
                       ", Slurm's array {}{}", array_,
                       fresh ? fmt::format(" of {} workers", how.workers) : ", submitted before"));
    const auto later = fmt::format(
        "Slurm's array {} goes on. Collect its results with: {}\n"
        "imprint: look at it with: imprint status {}; end it with: scancel {}",
        array_, options_.command, folder_.string(), array_);
    if (!options_.wait) {
      fmt::print(stderr, "imprint: {}\n", later);
      return 0;
    }
    // The nodes may be faster or slower than this machine; the first jobs will tell.
    Forecast forecast(ready_.plan, &store_, how.workers,
                      probe(ready_.plan, &store_, 1, probe_seconds));
    const auto crew = follow_slurm(folder_, how, array_,
                                   [&] { return remaining(ready_.plan, store_).jobs == 0; });
    return watch(*crew, forecast, later);
  }

  std::optional<int> watch(Crew& crew, Forecast& forecast, const std::string& later) {
    events_.emplace(folder_ / "tensorboard", ready_.experiment, ready_.plan, store_);
    ProgressPanel panel(ready_.plan, forecast, options_.quiet);
    const auto limit = options_.time.empty() ? 0 : seconds_of(options_.time);
    const auto outcome = follow(crew, folder_ / "progress",
                                {[&](const Progress& heard) {
                                   panel.hear(heard);
                                   if (heard.kind == Progress::Kind::epoch)
                                     events_->epoch(heard.address, heard.row);
                                 },
                                 [&] {
                                   panel.draw();
                                   const std::chrono::duration<double> passed =
                                       std::chrono::steady_clock::now() - start_;
                                   if (limit > 0 && passed.count() > limit && asked_to_leave() == 0)
                                     ask_to_leave();
                                 }},
                                save_seconds);
    panel.finish();
    log({{"event", "end"},
         {"done", outcome.done},
         {"failed", outcome.failed.size()},
         {"interrupted", outcome.interrupted}});
    return end_of_work(outcome, ready_.plan, folder_, options_.command, later);
  }

  void announce(const Remaining& open, const std::string& how) {
    log({{"event", "start"}, {"jobs", ready_.plan.jobs.size()}, {"todo", open.jobs}});
    say("{}", announcement(ready_, open, how));
  }

  void log(const nlohmann::json& json) const {
    std::ofstream(folder_ / "log.jsonl", std::ios::app) << json.dump() << "\n";
  }

  int report() {
    auto results = assemble(ready_.experiment, ready_.plan, store_);
    note_missing_figures(results);
    results.verdicts = judge(ready_.claims, results);
    if (stages_) results.stages = stages_->seen();
    if (!events_) events_.emplace(folder_ / "tensorboard", ready_.experiment, ready_.plan, store_);
    events_->finish(results);
    write_results(folder_, ready_, results, store_);
    const bool complete = remaining(ready_.plan, store_).jobs == 0;
    if (complete) {
      remove_finished_checkpoints(ready_.plan, store_);
      store_.sweep();  // what workers that were killed had begun
      finish_run_folder(folder_);
    }
    fmt::print("{}\n", console_table(results, terminal_width(STDOUT_FILENO, 120)));
    fmt::print("report       {}\n", (folder_ / "report.html").string());
    fmt::print("results      {}\n", (folder_ / "results.csv").string());
    fmt::print("TensorBoard  ./imprint tensorboard {}\n", folder_.string());
    return complete ? 0 : 1;
  }

  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  const RunOptions& options_;
  Ready ready_;
  const Experiment full_;  ///< with all shadows, where they are added in stages
  Store store_;
  RunFolder opened_;
  fs::path folder_;
  std::string array_;  ///< of Slurm, if one is at work
  std::optional<CellEvents> events_;
  std::optional<Stages> stages_;
};

}  // namespace

int run_command(const RunOptions& options) {
  at::set_num_threads(1);
  allow_many_files();  // one event file per cell stays open
  // Mistakes of the command line, before anything is done.
  if (!options.memory.empty()) bytes_of(options.memory);
  if (!options.time.empty()) seconds_of(options.time);
  const LeaveOnSignals leave{SIGINT, SIGTERM, SIGUSR1};
  return Run(options).go();
}

}  // namespace imprint
