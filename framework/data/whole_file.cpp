#include "framework/data/whole_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace imprint {
namespace {

/// Writes all bytes and puts them on the disk; false: errno says why not.
bool put_on_disk(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto wrote = ::write(descriptor, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(wrote));
  }
  return ::fsync(descriptor) == 0;
}

}  // namespace

void write_whole(const std::filesystem::path& file, std::string_view bytes) {
  const auto temporary = fmt::format("{}.tmp{}", file.string(), ::getpid());
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  bool good = descriptor >= 0 && put_on_disk(descriptor, bytes);
  int error = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (good && ::rename(temporary.c_str(), file.c_str()) != 0) {
    good = false;
    error = errno;
  }
  if (good) return;
  ::unlink(temporary.c_str());
  throw std::runtime_error(
      fmt::format("{}: cannot be written: {}", file.string(), std::strerror(error)));
}

}  // namespace imprint
