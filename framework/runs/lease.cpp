#include "framework/runs/lease.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>
#include <vector>

#include "framework/data/formats/file.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds beat{5}, patience{30};

// What unique_suffix() is made of: the name of a machine may itself hold dashes and numbers.
struct Giver {
  std::string host;
  int64_t process = 0;
};

Giver giver_of(const std::string& suffix) {
  const auto counter = suffix.rfind('-');
  if (counter == std::string::npos || counter == 0) return {};
  const auto process = suffix.rfind('-', counter - 1);
  if (process == std::string::npos) return {};
  return {suffix.substr(0, process), std::atoll(suffix.c_str() + process + 1)};
}

std::string this_host() { return giver_of(unique_suffix()).host; }

// The fields of /proc/PID/stat from the third on: state, ...; empty where there is none to see.
std::vector<std::string> status_of(int64_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string text;
  std::getline(file, text);
  // The name before it may hold anything, blanks and brackets too.
  std::istringstream fields(text.substr(std::min(text.size(), text.rfind(')') + 1)));
  return {std::istream_iterator<std::string>(fields), {}};
}

// When a process started, in ticks since boot: tells it from a later one with the same number.
std::string start_of(int64_t process) {
  const auto status = status_of(process);
  return status.size() < 20 ? "" : status[19];
}

// Where nobody buries the dead, as in many a container, they keep their numbers.
bool is_dead(int64_t process) {
  if (::kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH) return true;
  const auto status = status_of(process);
  return !status.empty() && (status[0] == "Z" || status[0] == "X");
}

// What is in a lease: host, process, its start, and a word that no other lease has.
struct Claim {
  std::string host, start, word;
  int64_t process = 0;
};

std::optional<Claim> read_claim(const fs::path& file) {
  std::ifstream stream(file);
  Claim claim;
  if (!(stream >> claim.host >> claim.process >> claim.start >> claim.word)) return std::nullopt;
  return claim;
}

bool is_gone(const Claim& claim) {
  if (claim.host != this_host()) return false;
  const auto start = start_of(claim.process);
  return is_dead(claim.process) || (!start.empty() && start != claim.start);
}

// Remembers when this process first saw each lease as it is now.
bool is_silent(const fs::path& file) {
  struct Seen {
    int64_t seconds, nanoseconds;
    Clock::time_point since;
  };
  static std::map<std::string, Seen> seen;
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return false;
  const Seen now{status.st_mtim.tv_sec, status.st_mtim.tv_nsec, Clock::now()};
  const auto [found, fresh] = seen.try_emplace(file.string(), now);
  auto& before = found->second;
  if (before.seconds != now.seconds || before.nanoseconds != now.nanoseconds) before = now;
  return Clock::now() - before.since > patience;
}

// Takes a dead holder's file away. Two may try: whoever moved a living one puts it back.
void clear(const fs::path& file, const std::string& word) {
  const fs::path away = file.string() + ".old-" + unique_suffix();
  if (::rename(file.c_str(), away.c_str()) != 0) return;
  const auto moved = read_claim(away);
  if (moved && moved->word != word) (void)!::link(away.c_str(), file.c_str());
  ::unlink(away.c_str());
}

bool create(const fs::path& file, const std::string& text) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (descriptor < 0 && errno == EEXIST) return false;
  const auto error = errno;
  const bool written = descriptor >= 0 && ::write(descriptor, text.data(), text.size()) ==
                                              static_cast<ssize_t>(text.size());
  if (descriptor >= 0) ::close(descriptor);
  if (written) return true;
  if (descriptor >= 0) ::unlink(file.c_str());
  throw StorageError(fmt::format("cannot write {}: {}", file.string(),
                                 std::strerror(descriptor >= 0 ? ENOSPC : error)));
}

}  // namespace

/// Touches the file until it is destroyed.
struct Lease::Heart {
  Heart(fs::path path, std::string its_word) : file(std::move(path)), word(std::move(its_word)) {
    thread = std::thread([this] {
      // Signals are for the thread that works.
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_BLOCK, &all, nullptr);
      std::unique_lock lock(mutex);
      while (!over.wait_for(lock, beat, [this] { return ended; }))
        ::utimensat(AT_FDCWD, file.c_str(), nullptr, 0);
    });
  }

  ~Heart() {
    {
      const std::lock_guard lock(mutex);
      ended = true;
    }
    over.notify_all();
    thread.join();
    // It may have been taken away from a process that slept too long.
    const auto claim = read_claim(file);
    if (claim && claim->word == word) ::unlink(file.c_str());
  }

  fs::path file;
  std::string word;
  std::mutex mutex;
  std::condition_variable over;
  bool ended = false;
  std::thread thread;
};

Lease::Lease(std::unique_ptr<Heart> heart) : heart_(std::move(heart)) {}
Lease::Lease(Lease&& other) noexcept = default;
Lease::~Lease() = default;

std::optional<Lease> Lease::attempt(const fs::path& file) {
  const auto word = unique_suffix();
  const auto text =
      fmt::format("{} {} {} {}\n", this_host(), ::getpid(), start_of(::getpid()), word);
  if (create(file, text)) return Lease(std::make_unique<Heart>(file, word));
  const auto claim = read_claim(file);
  // One without contents is being written, unless it stays so.
  if (!(claim && is_gone(*claim)) && !is_silent(file)) return std::nullopt;
  clear(file, claim ? claim->word : "");
  if (create(file, text)) return Lease(std::make_unique<Heart>(file, word));
  return std::nullopt;
}

LeaseHolder holder_of(const fs::path& file) {
  const auto claim = read_claim(file);
  if (!claim) return {};
  struct stat status {};
  const bool there = ::stat(file.c_str(), &status) == 0;
  const bool fresh = there && ::time(nullptr) - status.st_mtim.tv_sec < 2 * patience.count();
  return {fresh && !is_gone(*claim), claim->host, claim->process};
}

bool abandoned(const std::string& suffix) {
  const auto [host, process] = giver_of(suffix);
  return host == this_host() && process > 0 && is_dead(process);
}

}  // namespace imprint
