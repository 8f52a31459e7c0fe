#pragma once

#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace imprint {

/// What a finished process left: its exit code (128 + signal if killed, 127 if it could not start)
/// and both streams.
struct Output {
  int code = 0;
  std::string out, err;
};

/// A file in memory. The streams of a child are such files and no pipes, which fill and block.
class MemoryFile {
 public:
  explicit MemoryFile(const std::string& text = {}) : fd_(::memfd_create("stream", MFD_CLOEXEC)) {
    if (fd_ < 0 || ::pwrite(fd_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
      throw std::system_error(errno, std::system_category(), "cannot make a file in memory");
  }
  ~MemoryFile() { ::close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int fd() const { return fd_; }

  std::string text() const {
    std::string all;
    std::array<char, 65536> part;
    for (ssize_t n;
         (n = ::pread(fd_, part.data(), part.size(), static_cast<off_t>(all.size()))) > 0;)
      all.append(part.data(), static_cast<size_t>(n));
    return all;
  }

 private:
  int fd_;
};

/// This process's environment, in which `extra` ("NAME=value") replaces what has the same name.
inline std::vector<std::string> environment_with(std::vector<std::string> extra) {
  const auto name = [](std::string_view entry) { return entry.substr(0, entry.find('=')); };
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const auto same = [&](const std::string& other) { return name(other) == name(*entry); };
    if (std::none_of(extra.begin(), extra.end(), same)) extra.emplace_back(*entry);
  }
  return extra;
}

inline std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const auto& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

/// Runs a program, found on PATH unless it has a slash, without a shell, and waits for its end.
inline Output run_process(const std::vector<std::string>& argv, const std::string& stdin_text = {},
                          const std::vector<std::string>& extra_env = {}) {
  const MemoryFile in(stdin_text), out, err;
  const auto environment = environment_with(extra_env);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.fd(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.fd(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.fd(), STDERR_FILENO);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, argv.at(0).c_str(), &actions, nullptr,
                                   pointers(argv).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    return {127, "", "cannot run " + argv[0] + ": " + std::system_category().message(error)};

  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), out.text(), err.text()};
}

/// A new folder in $TMPDIR or /tmp, removed with all its files at the end of the scope.
class TempFolder {
 public:
  TempFolder() {
    auto name = (std::filesystem::temp_directory_path() / "imprint.XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw std::system_error(errno, std::system_category(), "cannot create " + name);
    path_ = name;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// The Python that has NumPy and TensorBoard, from IMPRINT_PYTHON.
inline std::optional<std::string> python() {
  const char* path = std::getenv("IMPRINT_PYTHON");
  if (path == nullptr || *path == '\0') return std::nullopt;
  return path;
}

inline bool skipping_allowed() {
  const char* no_skip = std::getenv("IMPRINT_NO_SKIP");
  return no_skip == nullptr || std::string_view(no_skip) != "1";
}

/// Runs a script with IMPRINT_PYTHON; `arguments` are its sys.argv[1:].
inline Output run_python(const std::string& script,
                         const std::vector<std::string>& arguments = {}) {
  std::vector<std::string> argv{python().value(), "-c", script};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return run_process(argv);
}

/// A whole file as text; empty if it is not there.
inline std::string file_text(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace imprint

/// Skips the test without IMPRINT_PYTHON; fails it instead when IMPRINT_NO_SKIP is 1.
#define IMPRINT_NEEDS_PYTHON()                                                           \
  do {                                                                                   \
    if (!::imprint::python()) {                                                          \
      if (!::imprint::skipping_allowed())                                                \
        FAIL() << "IMPRINT_PYTHON is not set, and "                                      \
                  "IMPRINT_NO_SKIP is 1";                                                \
      GTEST_SKIP() << "IMPRINT_PYTHON, a Python with NumPy and TensorBoard, is not set"; \
    }                                                                                    \
  } while (false)
