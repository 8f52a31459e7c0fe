#include "framework/data/formats/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

#include "framework/config/problems.h"
#include "framework/data/formats/bytes.h"

namespace imprint {

InputFile::InputFile(std::filesystem::path path) : path_(std::move(path)) {
  // Opening a pipe would wait for somebody to write into it.
  fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status {};
  const bool known = fd_ >= 0 && ::fstat(fd_, &status) == 0;
  const auto error = errno;
  if (known && S_ISREG(status.st_mode)) {
    size_ = static_cast<uint64_t>(status.st_size);
    return;
  }
  if (fd_ >= 0) ::close(fd_);
  if (!known) refuse("cannot be read: " + std::system_category().message(error));
  refuse(S_ISDIR(status.st_mode) ? "is a folder, expected a file" : "is no ordinary file");
}

InputFile::~InputFile() { ::close(fd_); }

void InputFile::read(uint64_t offset, void* to, uint64_t bytes) const {
  if (offset > size_ || bytes > size_ - offset)
    refuse(
        fmt::format("truncated: {} bytes are missing", bytes - (size_ - std::min(offset, size_))));
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    const auto got = ::pread(fd_, at, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse("cannot be read: " + std::system_category().message(errno));
    if (got == 0) refuse(fmt::format("truncated: {} bytes are missing", bytes));
    at += got;
    offset += static_cast<uint64_t>(got);
    bytes -= static_cast<uint64_t>(got);
  }
}

std::string InputFile::text(uint64_t offset, uint64_t bytes) const {
  // Before anything is allocated: the length may come from a damaged file.
  if (offset > size_ || bytes > size_ - offset) refuse("truncated");
  std::string text(bytes, '\0');
  read(offset, text.data(), bytes);
  return text;
}

std::shared_ptr<char> InputFile::mapped() const {
  void* start = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd_, 0);
  if (start == MAP_FAILED) refuse(fmt::format("cannot be mapped: {}", std::strerror(errno)));
  return {static_cast<char*>(start), [bytes = size_](char* first) { ::munmap(first, bytes); }};
}

void InputFile::refuse(const std::string& why) const {
  throw ConfigError(fmt::format("{}: {}", path_.string(), printable(why, 1000)));
}

std::string unique_suffix() {
  static std::atomic<int> counter{0};
  static const std::string host = [] {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    return std::string(name.data());
  }();
  return fmt::format("{}-{}-{}", host, ::getpid(), counter++);
}

void sync_path(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = fd >= 0 && (::fsync(fd) == 0 || errno == EINVAL);
  const auto error = errno;
  if (fd >= 0) ::close(fd);
  if (!synced)
    throw StorageError("cannot write " + path.string() + ": " +
                       std::system_category().message(error));
}

OutputFile::OutputFile(std::filesystem::path target)
    : target_(std::move(target)), temporary_(target_.string() + ".tmp-" + unique_suffix()) {
  fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd_ < 0) fail("create", errno);
}

OutputFile::~OutputFile() { discard(); }

void OutputFile::write(std::string_view bytes) {
  if (fd_ < 0) throw std::runtime_error(target_.string() + " is closed already");
  offset_ += bytes.size();
  while (!bytes.empty()) {
    const auto count = ::write(fd_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("write", errno);
    bytes.remove_prefix(static_cast<size_t>(count));
  }
}

void OutputFile::publish() {
  if (fd_ < 0) throw std::runtime_error(target_.string() + " is closed already");
  if (::fsync(fd_) != 0) fail("write", errno);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("create", errno);
  ::close(std::exchange(fd_, -1));

  // The new name survives a power cut only once the folder is on disk, too.
  const auto folder =
      target_.has_parent_path() ? target_.parent_path() : std::filesystem::path(".");
  sync_path(folder);
}

void OutputFile::discard() noexcept {
  if (fd_ < 0) return;
  ::close(std::exchange(fd_, -1));
  ::unlink(temporary_.c_str());
}

void OutputFile::fail(const std::string& what, int error) {
  discard();
  throw StorageError("cannot " + what + " " + target_.string() + ": " +
                     std::system_category().message(error));
}

void write_file(const std::filesystem::path& file, std::string_view contents) {
  OutputFile output(file);
  output.write(contents);
  output.publish();
}

}  // namespace imprint
