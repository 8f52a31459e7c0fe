#include "framework/runs/workers.h"

#include <ATen/Parallel.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <thread>

#include "framework/runs/history.h"
#include "framework/runs/worker.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;
volatile sig_atomic_t interrupted = 0;

void on_signal(int) { interrupted = 1; }

pid_t start_worker(const Plan& plan, const Store& store, const fs::path& folder, size_t number) {
  const auto pid = ::fork();
  if (pid != 0) return pid;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGTERM, SIG_DFL);
  int code = 0;
  try {
    at::set_num_threads(1);
    work_through(plan, store, folder, number);
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

// The processes of one run, each with its number and the job it is at.
class Crew {
 public:
  Crew(const Plan& plan, const Store& store, const fs::path& folder)
      : plan_(plan), store_(store), folder_(folder) {}

  void start(size_t number) {
    const auto pid = start_worker(plan_, store_, folder_, number);
    if (pid > 0) numbers_[pid] = number;
    if (pid < 0 && numbers_.empty())
      throw std::runtime_error(fmt::format("no worker could be started: {}", std::strerror(errno)));
  }

  bool empty() const { return numbers_.empty(); }

  void hear(const Progress& progress) {
    const bool busy =
        progress.kind == Progress::Kind::started || progress.kind == Progress::Kind::epoch;
    at_[progress.worker] = busy ? progress.address : "";
  }

  /// Buries the dead. A job that kills its worker has failed, and a new worker goes on with the
  /// rest.
  void look_after(const std::function<void()>& catch_up,
                  const std::function<void(const Progress&)>& hear) {
    int status = 0;
    for (pid_t ended = 0; (ended = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      const auto number = numbers_[ended];
      numbers_.erase(ended);
      const bool well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
      if (well || interrupted != 0) continue;
      catch_up();
      const auto address = at_[number];
      const auto message =
          WIFSIGNALED(status)
              ? fmt::format(
                    "its worker was killed by signal {} ({})", WTERMSIG(status),
                    WTERMSIG(status) == SIGKILL ? "out of memory?" : strsignal(WTERMSIG(status)))
              : fmt::format("its worker ended with code {}", WEXITSTATUS(status));
      hear({Progress::Kind::failed, number, address, {}, message});
      if (address.empty()) continue;
      write_file(folder_ / "failed" / address, message);
      start(number);
    }
  }

  void kill() const {
    for (const auto& [pid, number] : numbers_) ::kill(pid, SIGKILL);
  }

 private:
  const Plan& plan_;
  const Store& store_;
  fs::path folder_;
  std::map<pid_t, size_t> numbers_;
  std::map<size_t, std::string> at_;
};

}  // namespace

Outcome run_workers(const Plan& plan, const Store& store, size_t workers, const fs::path& folder,
                    const std::function<void(const Progress&)>& listen,
                    const std::function<void()>& idle) {
  Outcome outcome;
  fs::remove_all(folder);
  fs::create_directories(folder / "failed");
  std::fflush(nullptr);
  Crew crew(plan, store, folder);
  for (size_t i = 0; i < workers; ++i) crew.start(i);
  interrupted = 0;
  auto* const old_interrupt = ::signal(SIGINT, on_signal);
  auto* const old_terminate = ::signal(SIGTERM, on_signal);
  Follower follower(folder, workers);
  const auto hear = [&](const Progress& progress) {
    crew.hear(progress);
    if (progress.kind == Progress::Kind::done) ++outcome.done;
    if (progress.kind == Progress::Kind::failed)
      outcome.failed.emplace_back(progress.address, progress.message);
    listen(progress);
  };
  const auto catch_up = [&] { follower.poll(hear); };
  while (!crew.empty()) {
    crew.look_after(catch_up, hear);
    catch_up();
    idle();
    if (interrupted != 0) crew.kill();
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }
  catch_up();
  ::signal(SIGINT, old_interrupt);
  ::signal(SIGTERM, old_terminate);
  outcome.interrupted = interrupted != 0;
  return outcome;
}

}  // namespace imprint
