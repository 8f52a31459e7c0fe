#include "framework/data/work_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "framework/config/problems.h"

namespace imprint {
namespace {

constexpr auto work_prefix = ".fetch.";

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& folder)
    : fd_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (::flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(fd_);
    throw ConfigError(
        fmt::format("{}: another program is fetching into this folder", folder.string()));
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().filename().string().starts_with(work_prefix))
      std::filesystem::remove_all(entry.path());
}

FolderLock::~FolderLock() { ::close(fd_); }

WorkFolder::WorkFolder(const std::filesystem::path& folder) {
  auto name = (folder / (std::string(work_prefix) + "XXXXXX")).string();
  if (::mkdtemp(name.data()) == nullptr)
    throw ConfigError(
        fmt::format("{}: cannot be written: {}", folder.string(), std::strerror(errno)));
  path_ = name;
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace imprint
