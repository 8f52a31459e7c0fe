#pragma once

#include <filesystem>
#include <optional>

namespace imprint {

/// An exclusive lock on a file, held until it is destroyed. The kernel frees it when its process
/// dies, however it dies, so no lock is ever stale. Where the file system has no locks, everybody
/// gets one.
class FileLock {
 public:
  /// The lock, or nothing when another process holds it. Throws std::runtime_error when the file
  /// cannot be made. With `remove`, the file is deleted on release.
  static std::optional<FileLock> attempt(const std::filesystem::path& file, bool remove);

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  FileLock(std::filesystem::path file, int descriptor, bool remove)
      : file_(std::move(file)), descriptor_(descriptor), remove_(remove) {}

  std::filesystem::path file_;
  int descriptor_;
  bool remove_;
};

}  // namespace imprint
