#include "framework/runs/slurm.h"

#include <signal.h>
#include <sys/wait.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <regex>
#include <sstream>

#include "framework/config/problems.h"
#include "framework/runs/store.h"
#include "framework/runs/worker.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int most_submissions = 3;

struct Answer {
  int code = 127;
  std::string text;  ///< both streams, without the last line's end
};

Answer command_output(const std::string& command) {
  Answer answer;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "re");
  if (pipe == nullptr) return answer;
  std::array<char, 4096> part{};
  while (const auto got = std::fread(part.data(), 1, part.size(), pipe))
    answer.text.append(part.data(), got);
  const auto status = ::pclose(pipe);
  if (WIFEXITED(status)) answer.code = WEXITSTATUS(status);
  while (answer.text.ends_with('\n')) answer.text.pop_back();
  return answer;
}

// One task, or several that wait, of an array in the queue.
struct QueueLine {
  std::string state, reason;
};

// Nothing: Slurm did not answer, which says nothing about the array.
std::optional<std::vector<QueueLine>> queue_of(const std::string& array) {
  const auto answer = command_output("squeue --noheader --format='%T %r' --jobs=" + array);
  // Without Slurm's commands, an array that was noted here once is nobody's any more.
  if (answer.code == 127) return std::vector<QueueLine>();
  // A number that Slurm has forgotten.
  if (answer.code != 0)
    return answer.text.find("Invalid job id") != std::string::npos
               ? std::optional(std::vector<QueueLine>())
               : std::nullopt;
  std::vector<QueueLine> lines;
  std::istringstream text(answer.text);
  for (std::string line; std::getline(text, line);) {
    const auto space = line.find(' ');
    lines.push_back({line.substr(0, space), line.substr(std::min(space, line.size()))});
  }
  return lines;
}

fs::path array_file(const fs::path& run) { return run / "slurm/array"; }

class SlurmArray final : public Crew {
 public:
  SlurmArray(fs::path run, SlurmOptions options, std::string array, std::function<bool()> complete)
      : run_(std::move(run)),
        options_(std::move(options)),
        array_(std::move(array)),
        complete_(std::move(complete)) {}

  bool tend(const std::function<void(const std::string&)>& note) override {
    if (left_) return false;
    if (Clock::now() - looked_ < std::chrono::seconds(2)) return true;
    looked_ = Clock::now();
    const auto queue = queue_of(array_);
    if (complete_()) {
      // What waits for a place has nothing to do any more.
      if (queue && !queue->empty()) command_output("scancel --state=PENDING " + array_);
      return false;
    }
    if (!queue) {
      tell_silence(note);
      return true;
    }
    answered_ = looked_;
    tell_waiting(*queue, note);
    return !queue->empty() || submit_again(note);
  }

  void dismiss() override { left_ = true; }
  void kill() override { left_ = true; }

  std::string stuck() const override {
    if (left_ || complete_()) return "";
    if (const auto why = told_stuck(run_ / "progress"); !why.empty()) return why;
    // What failed is told by itself, and the rest has its results.
    if (any_failed()) return "";
    return fmt::format("Slurm's array {} ended before the work was done; see {}", array_,
                       (run_ / "slurm").string());
  }

 private:
  void tell_silence(const std::function<void(const std::string&)>& note) {
    if (Clock::now() - answered_ < std::chrono::minutes(1)) return;
    answered_ = Clock::now();
    note(fmt::format("Slurm's squeue has not answered for a minute; array {} may go on", array_));
  }

  void tell_waiting(const std::vector<QueueLine>& queue,
                    const std::function<void(const std::string&)>& note) {
    std::string why;
    for (const auto& [state, reason] : queue) {
      if (state == "RUNNING" || state == "COMPLETING") return;
      if (state == "PENDING") why = reason;
    }
    // It is told once, and only when it lasts.
    if (why.empty() || why == " None" || why == told_) return;
    told_ = why;
    note(fmt::format("Slurm's array {} waits for a place:{}", array_, why));
  }

  // Killed with its script, or ended by an administrator. Cancelled on purpose stays so.
  bool submit_again(const std::function<void(const std::string&)>& note) {
    const auto last = command_output(fmt::format("scontrol --oneliner show job {}", array_));
    const bool cancelled = last.text.find("JobState=CANCELLED") != std::string::npos;
    const bool failed = fs::exists(run_ / "progress/stuck") || any_failed();
    if (cancelled || failed || ++submissions_ > most_submissions) return false;
    array_ = submit_slurm(run_, options_);
    note(
        fmt::format("Slurm's array ended before the work was done; submitted again as {}", array_));
    return true;
  }

  // Workers leave when all that is left needs something that failed.
  bool any_failed() const {
    std::error_code none;
    return fs::directory_iterator(run_ / "progress/failed", none) != fs::directory_iterator();
  }

  fs::path run_;
  SlurmOptions options_;
  std::string array_;
  std::function<bool()> complete_;
  bool left_ = false;
  int submissions_ = 0;
  std::string told_;
  Clock::time_point looked_{}, answered_ = Clock::now();
};

}  // namespace

std::string slurm_array_at_work(const fs::path& run) {
  if (!fs::exists(array_file(run))) return "";
  auto array = read_file(array_file(run));
  array = array.substr(0, array.find('\n'));
  const auto queue = queue_of(array);
  return !queue || !queue->empty() ? array : "";
}

std::string submit_slurm(const fs::path& run, const SlurmOptions& options) {
  fs::create_directories(run / "slurm");
  const auto script = run / "slurm/submit.sh";
  write_file(script, slurm_script(run, options));
  const auto answer = command_output("sbatch --parsable " + shell_quoted(script.string()));
  const auto array = answer.text.substr(0, answer.text.find_first_of(";\n"));
  static const std::regex number("[0-9]+");
  if (answer.code == 127)
    throw ConfigError("there is no sbatch here: --launcher slurm needs Slurm's commands on PATH");
  if (answer.code != 0 || !std::regex_match(array, number))
    throw ConfigError(fmt::format("Slurm did not take {}: {}", script.string(), answer.text));
  write_file(array_file(run), array + "\n");
  return array;
}

std::unique_ptr<Crew> follow_slurm(const fs::path& run, const SlurmOptions& options,
                                   std::string array, std::function<bool()> complete) {
  return std::make_unique<SlurmArray>(run, options, std::move(array), std::move(complete));
}

}  // namespace imprint
