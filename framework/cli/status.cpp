#include <fmt/format.h>

#include "framework/cli/commands.h"
#include "framework/cli/progress.h"
#include "framework/cli/ready.h"
#include "framework/runs/progress.h"
#include "framework/runs/run_folder.h"
#include "framework/runs/run_record.h"
#include "framework/runs/slurm.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;

// What the workers wrote about one job.
struct Told {
  double started = 0, first_time = 0, last_time = 0;
  int64_t first_epoch = 0, epoch = 0;
  std::string failure;
};

std::map<std::string, Told> told_by_workers(const fs::path& run) {
  std::map<std::string, Told> told;
  Follower(run / "progress").poll([&](const Progress& each) {
    auto& about = told[each.address];
    if (each.kind == Progress::Kind::started) {
      about = Told();
      about.started = each.time;
    }
    if (each.kind == Progress::Kind::failed) about.failure = each.message;
    if (each.kind != Progress::Kind::epoch) return;
    // What a checkpoint brought is told at once, and is no speed.
    if (each.time - about.started < 0.2 || about.first_time == 0) {
      about.first_time = each.time;
      about.first_epoch = each.row.epoch;
    }
    about.last_time = each.time;
    about.epoch = each.row.epoch;
  });
  return told;
}

enum class State { done, running, failed, missing };

class Status {
 public:
  explicit Status(const LookOptions& options)
      : options_(options),
        record_(read_run_record(options.run)),
        store_(record_.store),
        told_(told_by_workers(options.run)) {}

  void print() {
    fmt::print("{}: {}\n", record_.name, fs::canonical(options_.run).string());
    std::map<State, std::vector<const RecordedJob*>> jobs;
    std::map<std::string, std::pair<size_t, size_t>> kinds;  // done, all
    for (const auto& job : record_.jobs) {
      const auto state = state_of(job);
      jobs[state].push_back(&job);
      kinds[job.kind].first += state == State::done ? 1 : 0;
      ++kinds[job.kind].second;
    }
    fmt::print("  {:<8} {} of {} jobs", "done", jobs[State::done].size(), record_.jobs.size());
    for (const auto& [kind, count] : kinds)
      fmt::print(", {} {}/{}", kind, count.first, count.second);
    fmt::print("\n");
    for (const auto* job : jobs[State::running]) print_running(*job);
    for (const auto* job : jobs[State::failed])
      fmt::print("  {:<8} {}  {}: {}\n", "failed", job->address.substr(0, 8), job->title,
                 told_[job->address].failure);
    fmt::print("  {:<8} {} jobs\n", "missing", jobs[State::missing].size());
    if (options_.all) print_all();
    print_end(jobs[State::running].size() + jobs[State::missing].size() +
              jobs[State::failed].size());
  }

 private:
  State state_of(const RecordedJob& job) {
    if (is_stored(job, store_)) return State::done;
    if (store_.lease_holder(job.address).held) return State::running;
    return told_[job.address].failure.empty() ? State::missing : State::failed;
  }

  void print_running(const RecordedJob& job) {
    const auto holder = store_.lease_holder(job.address);
    const auto& about = told_[job.address];
    fmt::print("  {:<8} {}  {}", "running", job.address.substr(0, 8), job.title);
    if (job.epochs > 0) fmt::print(", epoch {} of {}", about.epoch, job.epochs);
    const auto seconds = about.last_time - about.first_time;
    if (about.epoch > about.first_epoch && seconds > 0)
      fmt::print(", {:.3g} epochs/s",
                 static_cast<double>(about.epoch - about.first_epoch) / seconds);
    fmt::print(", on {} (process {})\n", holder.host, holder.process);
  }

  void print_all() {
    constexpr std::array words{"done", "running", "failed", "missing"};
    for (const auto& job : record_.jobs)
      fmt::print("  {:<8} {}  {}\n", words[static_cast<size_t>(state_of(job))],
                 job.address.substr(0, 8), job.title);
  }

  void print_end(size_t open) {
    const bool finished = is_finished(options_.run);
    const auto array = slurm_array_at_work(options_.run);
    if (!array.empty()) fmt::print("  Slurm's array {} is at work\n", array);
    if (finished)
      fmt::print("finished; report: {}\n", (options_.run / "report.html").string());
    else if (is_open_elsewhere(options_.run))
      fmt::print("under way\n");
    else
      fmt::print("{} in {} with: {}\n",
                 open == 0 ? "all jobs are done; write the report" : "not under way; go on",
                 record_.folder.string(), record_.command);
  }

  const LookOptions& options_;
  RunRecord record_;
  Store store_;
  std::map<std::string, Told> told_;
};

}  // namespace

int status_command(const LookOptions& options) {
  Status(options).print();
  return 0;
}

}  // namespace imprint
