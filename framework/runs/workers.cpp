#include "framework/runs/workers.h"

#include <ATen/Parallel.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include "framework/runs/history.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;
volatile sig_atomic_t interrupted = 0;

void on_signal(int) { interrupted = 1; }

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
        file_(folder / fmt::format("{}.jsonl", number)) {}

  void run() {
    while (!remaining().empty()) {
      if (!take_one()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

 private:
  enum class Fate { open, done, failed };

  Fate fate(const std::string& address) {
    if (const auto found = known_.find(address); found != known_.end()) return found->second;
    const auto& job = *std::find_if(plan_.jobs.begin(), plan_.jobs.end(),
                                    [&](const Job& each) { return each.address == address; });
    Fate now = Fate::open;
    if (fs::exists(failures_ / address))
      now = Fate::failed;
    else if (plan_.stored(job, store_))
      now = Fate::done;
    if (now != Fate::open) known_[address] = now;
    return now;
  }

  std::vector<const Job*> remaining() {
    std::vector<const Job*> open;
    for (const auto& job : plan_.jobs) {
      if (fate(job.address) != Fate::open) continue;
      const bool hopeless = std::any_of(job.after.begin(), job.after.end(), [&](const auto& each) {
        return fate(each) == Fate::failed;
      });
      if (hopeless)
        known_[job.address] = Fate::failed;
      else
        open.push_back(&job);
    }
    return open;
  }

  bool take_one() {
    for (const auto* job : remaining()) {
      const bool ready = std::all_of(job->after.begin(), job->after.end(),
                                     [&](const auto& each) { return fate(each) == Fate::done; });
      if (!ready || !store_.lease(job->address)) continue;
      // It may have been finished between the look and the lease.
      if (fate(job->address) == Fate::open) attempt(*job);
      store_.release(job->address);
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
      write_file(failures_ / job.address, message);
      file_.put({{"kind", "failed"},
                 {"job", job.address},
                 {"message", message.substr(0, message.find('\n'))}});
    }
  }

  const Plan& plan_;
  const Store& store_;
  fs::path failures_;
  ProgressFile file_;
  std::map<std::string, Fate> known_;
};

pid_t start_worker(const Plan& plan, const Store& store, const fs::path& folder, size_t number) {
  const auto pid = ::fork();
  if (pid != 0) return pid;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGTERM, SIG_DFL);
  int code = 0;
  try {
    at::set_num_threads(1);
    Worker(plan, store, folder, number).run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "imprint: worker {}: {}\n", number, error.what());
    code = 1;
  }
  std::fflush(nullptr);
  ::_exit(code);
}

// Follows the progress files as they grow.
class Follower {
 public:
  Follower(const fs::path& folder, size_t workers) {
    for (size_t i = 0; i < workers; ++i) files_.push_back({folder / fmt::format("{}.jsonl", i), 0});
  }

  void poll(const std::function<void(const Progress&)>& listen) {
    for (size_t i = 0; i < files_.size(); ++i) {
      auto& [file, at] = files_[i];
      std::ifstream stream(file);
      stream.seekg(at);
      std::string line;
      while (std::getline(stream, line) && !stream.eof()) {
        at += static_cast<std::streamoff>(line.size()) + 1;
        listen(parsed(line, i));
      }
    }
  }

 private:
  static Progress parsed(const std::string& line, size_t worker) {
    const auto json = nlohmann::json::parse(line);
    const std::string kind = json.at("kind");
    Progress progress{
        Progress::Kind::started, worker, json.at("job"), {}, json.value("message", "")};
    if (kind == "done") progress.kind = Progress::Kind::done;
    if (kind == "failed") progress.kind = Progress::Kind::failed;
    if (kind != "epoch") return progress;
    progress.kind = Progress::Kind::epoch;
    progress.row = epoch_row_from(json.at("row"));
    return progress;
  }

  std::vector<std::pair<fs::path, std::streamoff>> files_;
};

}  // namespace

Outcome run_workers(const Plan& plan, const Store& store, size_t workers, const fs::path& folder,
                    const std::function<void(const Progress&)>& listen,
                    const std::function<void()>& idle) {
  Outcome outcome;
  fs::remove_all(folder);
  fs::create_directories(folder / "failed");
  std::set<pid_t> alive;
  std::fflush(nullptr);
  for (size_t i = 0; i < workers; ++i) alive.insert(start_worker(plan, store, folder, i));
  interrupted = 0;
  auto* const old_interrupt = ::signal(SIGINT, on_signal);
  auto* const old_terminate = ::signal(SIGTERM, on_signal);
  Follower follower(folder, workers);
  const auto hear = [&](const Progress& progress) {
    if (progress.kind == Progress::Kind::done) ++outcome.done;
    if (progress.kind == Progress::Kind::failed)
      outcome.failed.emplace_back(progress.address, progress.message);
    listen(progress);
  };
  while (!alive.empty()) {
    int status = 0;
    for (pid_t ended = 0; (ended = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      alive.erase(ended);
      if (WIFSIGNALED(status) && interrupted == 0)
        outcome.failed.emplace_back(
            "", fmt::format("a worker was killed by signal {}", WTERMSIG(status)));
    }
    follower.poll(hear);
    idle();
    if (interrupted != 0)
      for (const auto pid : alive) ::kill(pid, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }
  follower.poll(hear);
  ::signal(SIGINT, old_interrupt);
  ::signal(SIGTERM, old_terminate);
  outcome.interrupted = interrupted != 0;
  return outcome;
}

}  // namespace imprint
