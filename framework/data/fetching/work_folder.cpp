#include "framework/data/fetching/work_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "framework/config/problems.h"

namespace imprint {
namespace {

constexpr auto work_prefix = ".fetch.";

class Descriptor {
 public:
  Descriptor(const std::filesystem::path& file, int flags)
      : fd_(::open(file.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~Descriptor() { ::close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  operator int() const { return fd_; }

 private:
  int fd_;
};

// Not std::filesystem::copy_file, which calls a full disk an input/output error of the source.
bool write_piece(int to, const char* data, ssize_t bytes) {
  while (bytes > 0) {
    const auto wrote = ::write(to, data, static_cast<size_t>(bytes));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return false;
    data += wrote;
    bytes -= wrote;
  }
  return true;
}

[[noreturn]] void refuse_copy(const std::filesystem::path& file, const std::string& verb) {
  throw ConfigError(fmt::format("{}: cannot be {}: {}", file.string(), verb, std::strerror(errno)));
}

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

void copy_whole(const std::filesystem::path& file, const std::filesystem::path& target) {
  const std::filesystem::path part = target.string() + ".part";
  const Descriptor from(file, O_RDONLY);
  if (from < 0) refuse_copy(file, "read");
  const Descriptor to(part, O_WRONLY | O_CREAT | O_TRUNC);
  if (to < 0) refuse_copy(part, "written");
  std::vector<char> room(1 << 20);
  ssize_t got = 0;
  while ((got = ::read(from, room.data(), room.size())) > 0) {
    if (write_piece(to, room.data(), got)) continue;
    const int error = errno;
    ::unlink(part.c_str());
    errno = error;
    refuse_copy(target, "written");
  }
  if (got < 0) refuse_copy(file, "read");
  std::filesystem::rename(part, target);
}

}  // namespace imprint
