#include "framework/runs/worker.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include "framework/runs/checkpoint.h"
#include "framework/runs/interruption.h"
#include "framework/runs/progress.h"
#include "framework/runs/timetable.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int most_repairs = 3;

// LibTorch appends a stack trace after the first line; the user needs the sentence.
std::string first_sentence(const std::string& message) {
  return message.substr(0, message.find('\n'));
}

// Takes jobs until none is left that it could do.
class Worker {
 public:
  Worker(const Plan& plan, const Store& store, const WorkerTask& task)
      : plan_(plan),
        store_(store),
        task_(task),
        failures_(task.folder / "failed"),
        file_(task.folder, task.number),
        order_(working_order(plan)) {
    for (const auto& job : plan.jobs) jobs_[job.address] = &job;
  }

  int run() {
    bury();
    open_ = order_;
    while (true) {
      if (asked_to_leave() > 0) return worker_left;
      std::erase_if(open_, [&](const Job* job) { return fate(job->address) != Fate::open; });
      if (open_.empty()) return worker_done;
      try {
        if (!take_one()) wait();
      } catch (const Interrupted&) {
        return worker_left;
      }
    }
  }

 private:
  enum class Fate { open, done, failed };

  // Looking costs some microseconds per job: with thousands of them, look less often.
  void wait() const {
    std::this_thread::sleep_for(std::chrono::milliseconds(10) +
                                std::chrono::microseconds(20 * open_.size()));
  }

  // A worker that died left its file at the job that it was doing. A job that ends worker after
  // worker at the same checkpoint has failed.
  void bury() {
    if (task_.death.empty()) return;
    std::string last;
    Follower(task_.folder).poll([&](const Progress& each) {
      if (each.worker != task_.number) return;
      const bool busy = each.kind == Progress::Kind::started || each.kind == Progress::Kind::epoch;
      if (each.kind != Progress::Kind::note) last = busy ? each.address : "";
    });
    if (last.empty() || !jobs_.contains(last) || fate(last) != Fate::open) return;
    fs::create_directories(task_.folder / "deaths");
    const auto deaths = task_.folder / "deaths" / last;
    const auto place = newest_checkpoint(store_, last) + ": ";
    std::ofstream(deaths, std::ios::app) << place << task_.death << "\n";
    std::ifstream lines(deaths);
    std::string line;
    size_t count = 0;
    while (std::getline(lines, line)) count += line.starts_with(place) ? 1 : 0;
    if (count >= task_.most_deaths)
      fail(*jobs_.at(last), task_.death + fmt::format(", {} times without getting further", count));
    else
      file_.put({Progress::Kind::left, task_.number, last});
  }

  // What became of a job; done and failed are final. One that needs a failed job has failed too.
  Fate fate(const std::string& address) {
    if (const auto found = known_.find(address); found != known_.end()) return found->second;
    const auto& job = *jobs_.at(address);
    Fate now = Fate::open;
    if (plan_.stored(job, store_))
      now = Fate::done;
    else if (fs::exists(failures_ / address))
      now = Fate::failed;
    else if (std::any_of(job.after.begin(), job.after.end(),
                         [&](const auto& each) { return fate(each) == Fate::failed; }))
      now = Fate::failed;
    if (now != Fate::open) known_[address] = now;
    return now;
  }

  bool take_one() {
    for (const auto* job : open_) {
      const bool ready = std::all_of(job->after.begin(), job->after.end(),
                                     [&](const auto& each) { return fate(each) == Fate::done; });
      if (!ready) continue;
      const auto lease = store_.lease(job->address);
      // It may have been finished between the look and the lease.
      if (!lease || fate(job->address) != Fate::open) continue;
      attempt(*job);
      return true;
    }
    return false;
  }

  void attempt(const Job& job) {
    const auto start = Clock::now();
    file_.put({Progress::Kind::started, task_.number, job.address});
    const JobEvents events{[&](const EpochRow& row) {
                             file_.put({Progress::Kind::epoch, task_.number, job.address, row});
                           },
                           [&](const std::string& message) { note(job, message); }};
    try {
      do_job(plan_, job, store_, events);
      Progress done{Progress::Kind::done, task_.number, job.address};
      done.seconds = std::chrono::duration<double>(Clock::now() - start).count();
      file_.put(done);
    } catch (const Interrupted&) {
      file_.put({Progress::Kind::left, task_.number, job.address});
      throw;
    } catch (const StorageError&) {
      throw;
    } catch (const DamagedEntry& damaged) {
      repair(job, damaged);
    } catch (const std::exception& error) {
      fail(job, error.what());
    }
  }

  // What cannot be trusted is set aside, and so becomes a job to be done again.
  void repair(const Job& job, const DamagedEntry& damaged) {
    if (++repairs_[damaged.address] > most_repairs) return fail(job, damaged.what());
    store_.set_aside(damaged.kind, damaged.address);
    note(job, damaged.what());
    file_.put({Progress::Kind::left, task_.number, job.address});
    known_.clear();
    open_ = order_;
  }

  void note(const Job& job, const std::string& damaged) {
    file_.put({Progress::Kind::note,
               task_.number,
               job.address,
               {},
               fmt::format("damaged in the store, set aside and computed again: {}", damaged)});
  }

  void fail(const Job& job, const std::string& message) {
    write_file(failures_ / job.address,
               fmt::format("{}\n\n{}\n\n{}", job.title, message, job.recipe.to_yaml()));
    file_.put({Progress::Kind::failed, task_.number, job.address, {}, first_sentence(message)});
  }

  const Plan& plan_;
  const Store& store_;
  const WorkerTask& task_;
  fs::path failures_;
  ProgressFile file_;
  std::map<std::string, const Job*> jobs_;
  std::vector<const Job*> order_, open_;
  std::map<std::string, Fate> known_;
  std::map<std::string, int> repairs_;
};

}  // namespace

void tell_stuck(const fs::path& folder, const std::string& why) {
  std::ofstream(folder / "stuck") << why << "\n";
}

std::string told_stuck(const fs::path& folder) {
  std::error_code none;
  const auto file = folder / "stuck";
  if (!fs::exists(file, none)) return "";
  auto why = read_file(file);
  return why.substr(0, why.find_last_not_of('\n') + 1);
}

int work_through(const Plan& plan, const Store& store, const WorkerTask& task) {
  return Worker(plan, store, task).run();
}

}  // namespace imprint
