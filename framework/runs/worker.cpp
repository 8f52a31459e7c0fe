#include "framework/runs/worker.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include "framework/runs/history.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;

// One line per event, appended with one write, so that the reader never sees half a line for long.
class ProgressFile {
 public:
  explicit ProgressFile(const fs::path& file) : stream_(file, std::ios::app) {}
  void put(const nlohmann::json& json) { stream_ << json.dump() + "\n" << std::flush; }

 private:
  std::ofstream stream_;
};

// Takes jobs until none is left that it could do.
class Worker {
 public:
  Worker(const Plan& plan, const Store& store, const fs::path& folder, size_t number)
      : plan_(plan),
        store_(store),
        failures_(folder / "failed"),
        file_(folder / fmt::format("{}.jsonl", number)) {
    for (const auto& job : plan.jobs) {
      jobs_[job.address] = &job;
      open_.push_back(&job);
    }
  }

  void run() {
    while (true) {
      std::erase_if(open_, [&](const Job* job) { return fate(job->address) != Fate::open; });
      if (open_.empty()) return;
      if (!take_one()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

 private:
  enum class Fate { open, done, failed };

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
    file_.put({{"kind", "started"}, {"job", job.address}});
    try {
      do_job(plan_, job, store_, [&](const EpochRow& row) {
        file_.put({{"kind", "epoch"}, {"job", job.address}, {"row", to_json(row)}});
      });
      file_.put({{"kind", "done"}, {"job", job.address}});
    } catch (const std::exception& error) {
      // LibTorch appends a stack trace after the first line; the user needs the sentence.
      const std::string message = error.what();
      file_.put({{"kind", "failed"},
                 {"job", job.address},
                 {"message", message.substr(0, message.find('\n'))}});
      write_file(failures_ / job.address, message);
    }
  }

  const Plan& plan_;
  const Store& store_;
  fs::path failures_;
  ProgressFile file_;
  std::map<std::string, const Job*> jobs_;
  std::vector<const Job*> open_;
  std::map<std::string, Fate> known_;
};

}  // namespace

void work_through(const Plan& plan, const Store& store, const fs::path& folder, size_t number) {
  Worker(plan, store, folder, number).run();
}

}  // namespace imprint
