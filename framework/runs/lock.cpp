#include "framework/runs/lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace imprint {
namespace {

// The file may have been deleted by its last holder between opening and locking.
bool still_there(const std::filesystem::path& file, int descriptor) {
  struct stat opened {
  }, named{};
  return ::fstat(descriptor, &opened) == 0 && ::stat(file.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

// On a file system without locks nobody holds one. It is only a courtesy: entries of the store and
// files of a run appear whole, whoever writes them.
bool is_held(int descriptor) {
  int failed = 0;
  do {
    failed = ::flock(descriptor, LOCK_EX | LOCK_NB);
  } while (failed != 0 && errno == EINTR);
  return failed != 0 && errno == EWOULDBLOCK;
}

}  // namespace

std::optional<FileLock> FileLock::attempt(const std::filesystem::path& file, bool remove) {
  while (true) {
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor < 0)
      throw std::runtime_error(
          fmt::format("{}: cannot be locked: {}", file.string(), std::strerror(errno)));
    if (is_held(descriptor)) {
      ::close(descriptor);
      return std::nullopt;
    }
    if (still_there(file, descriptor)) return FileLock(file, descriptor, remove);
    ::close(descriptor);
  }
}

FileLock::FileLock(FileLock&& other) noexcept
    : file_(std::move(other.file_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      remove_(other.remove_) {}

FileLock::~FileLock() {
  if (descriptor_ < 0) return;
  std::error_code ignored;
  if (remove_) std::filesystem::remove(file_, ignored);
  ::close(descriptor_);
}

}  // namespace imprint
