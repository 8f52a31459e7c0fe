#include "framework/runs/machine.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
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
