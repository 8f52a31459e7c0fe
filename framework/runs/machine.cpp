#include "framework/runs/machine.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>

#include "framework/registry/sources.h"

namespace imprint {
namespace {

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

std::string first_line(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

// The number behind a word that a line starts with; 0 if there is none.
uint64_t numbered_line(const std::filesystem::path& file, const std::string& word) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);)
    if (line.starts_with(word)) return std::strtoull(line.c_str() + word.size(), nullptr, 10);
  return 0;
}

// The commit of the source tree the launcher runs from, if it is a clone.
std::string commit() {
  const char* home = std::getenv("IMPRINT_HOME");
  if (home == nullptr) return "";
  const auto git = std::filesystem::path(home) / ".git";
  const auto head = first_line(git / "HEAD");
  return head.starts_with("ref: ") ? first_line(git / head.substr(5)) : head;
}

}  // namespace

std::string cpu_kind() {
  static const auto kind = cpu_model() + ", " + at::get_cpu_capability();
  return kind;
}

uint64_t available_memory() {
  uint64_t free = numbered_line("/proc/meminfo", "MemAvailable:") * 1024;
  if (free == 0) return std::numeric_limits<uint64_t>::max();
  // A limit of the control group of this process, if there is one; "max" reads as 0.
  const auto group = first_line("/proc/self/cgroup");
  const auto folder = "/sys/fs/cgroup" + group.substr(std::min(group.size(), size_t{3}));
  const auto limit = std::atoll(first_line(folder + "/memory.max").c_str());
  const auto used = std::atoll(first_line(folder + "/memory.current").c_str());
  const auto cache = numbered_line(folder + "/memory.stat", "inactive_file ");
  if (limit > 0) free = std::min(free, static_cast<uint64_t>(std::max(limit - used, 0LL)) + cache);
  return free;
}

uint64_t peak_memory() { return numbered_line("/proc/self/status", "VmHWM:") * 1024; }

void allow_many_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

bool sees_gpu() {
  static const bool seen = [] {
    const auto child = ::fork();
    if (child == 0) ::_exit(at::hasCUDA() ? 1 : 0);
    int status = 0;
    return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 1;
  }();
  return seen;
}

nlohmann::json environment() {
  return {{"imprint", build_version()},
          {"commit", commit()},
          {"compiler", __VERSION__},
          {"cpu", cpu_kind()},
          {"cores", std::thread::hardware_concurrency()},
          {"threads_per_worker", 1},
          {"mkl", at::hasMKL()},
          {"onednn", at::hasMKLDNN()},
          {"cuda", sees_gpu()},
          {"kernels", at::show_config()}};
}

}  // namespace imprint
