#include "framework/runs/crew.h"

#include <ATen/Parallel.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "framework/runs/interruption.h"
#include "framework/runs/worker.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

[[noreturn]] void be_worker(const Plan& plan, const Store& store, const WorkerTask& task,
                            HoldSignals& held) {
  // Ctrl-C reaches the whole group; the coordinator passes it on.
  ::signal(SIGINT, SIG_IGN);
  const LeaveOnSignals leave{SIGTERM, SIGUSR1};
  held.release();
  int code = worker_stuck;
  try {
    at::set_num_threads(1);
    code = work_through(plan, store, task);
  } catch (const std::exception& error) {
    tell_stuck(task.folder, error.what());
    fmt::print(stderr, "imprint: worker {}: {}\n", task.number + 1, error.what());
  }
  std::fflush(nullptr);
  ::_exit(code);
}

class LocalProcesses final : public Crew {
 public:
  LocalProcesses(const Plan& plan, const Store& store, fs::path folder, LocalCrew how)
      : plan_(plan), store_(store), folder_(std::move(folder)), how_(std::move(how)) {
    std::fflush(nullptr);
    for (size_t i = 0; i < how_.workers; ++i) start(i, "");
  }
  ~LocalProcesses() override {
    kill();
    for (const auto& [pid, number] : numbers_) ::waitpid(pid, nullptr, 0);
  }

  bool tend(const std::function<void(const std::string&)>& note) override {
    bury(note);
    watch_memory(note);
    return !numbers_.empty();
  }

  void dismiss() override {
    leaving_ = true;
    for (const auto& [pid, number] : numbers_) ::kill(pid, SIGTERM);
  }

  void kill() override {
    leaving_ = true;
    for (const auto& [pid, number] : numbers_) ::kill(pid, SIGKILL);
  }

  std::string stuck() const override {
    const auto why = stuck_.empty() ? "" : told_stuck(folder_);
    return why.empty() ? stuck_ : why;
  }

 private:
  void start(size_t number, const std::string& death) {
    const auto parent = ::getpid();
    HoldSignals held;
    const auto pid = ::fork();
    if (pid == 0) {
      end_with(parent);
      be_worker(plan_, store_, {folder_, number, death}, held);
    }
    if (pid > 0) numbers_[pid] = number;
    if (pid < 0 && numbers_.empty())
      throw std::runtime_error(fmt::format("no worker could be started: {}", std::strerror(errno)));
  }

  void bury(const std::function<void(const std::string&)>& note) {
    int status = 0;
    for (pid_t ended = 0; (ended = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      const auto found = numbers_.find(ended);
      if (found == numbers_.end()) continue;
      const auto number = found->second;
      numbers_.erase(found);
      if (WIFEXITED(status) && WEXITSTATUS(status) == worker_stuck) {
        stuck_ = fmt::format("worker {} could not go on", number + 1);
        dismiss();
      }
      if (WIFEXITED(status) || leaving_) continue;
      const auto death =
          fmt::format("its worker was killed by signal {} ({})", WTERMSIG(status),
                      WTERMSIG(status) == SIGKILL ? "out of memory?" : strsignal(WTERMSIG(status)));
      note(fmt::format("worker {}: {}; going on with another", number + 1,
                       death.substr(std::strlen("its worker "))));
      start(number, death);
    }
  }

  // The last worker stays: without it nothing would ever be done.
  void watch_memory(const std::function<void(const std::string&)>& note) {
    if (seconds_since(looked_) < how_.look_seconds || numbers_.size() < 2) return;
    looked_ = Clock::now();
    const auto free = how_.free_memory();
    if (free >= how_.spare_memory) return;
    const auto last = std::prev(numbers_.end());
    ::kill(last->first, SIGTERM);
    note(fmt::format("only {} MB of memory are left: worker {} saves its work and leaves",
                     free >> 20, last->second + 1));
    looked_ += std::chrono::seconds(20);  // saving takes a while
  }

  const Plan& plan_;
  const Store& store_;
  fs::path folder_;
  LocalCrew how_;
  std::map<pid_t, size_t> numbers_;
  bool leaving_ = false;
  std::string stuck_;
  Clock::time_point looked_ = Clock::now();
};

}  // namespace

std::unique_ptr<Crew> start_local_crew(const Plan& plan, const Store& store, const fs::path& folder,
                                       LocalCrew how) {
  return std::make_unique<LocalProcesses>(plan, store, folder, std::move(how));
}

Outcome follow(Crew& crew, const fs::path& folder, const CrewWatch& watch, double patience) {
  Outcome outcome;
  Follower follower(folder);
  const auto hear = [&](const Progress& progress) {
    if (progress.kind == Progress::Kind::done) ++outcome.done;
    if (progress.kind == Progress::Kind::failed)
      outcome.failed.emplace_back(progress.address, progress.message);
    watch.listen(progress);
  };
  const auto note = [&](const std::string& message) {
    watch.listen({Progress::Kind::note, 0, "", {}, message});
  };
  Clock::time_point dismissed;
  while (crew.tend(note)) {
    follower.poll(hear);
    watch.idle();
    const auto asked = asked_to_leave();
    if (asked > 0 && !outcome.interrupted) {
      outcome.interrupted = true;
      dismissed = Clock::now();
      crew.dismiss();
    } else if (asked > 1 || (outcome.interrupted && seconds_since(dismissed) > patience)) {
      crew.kill();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  follower.poll(hear);
  outcome.stuck = crew.stuck();
  return outcome;
}

}  // namespace imprint
