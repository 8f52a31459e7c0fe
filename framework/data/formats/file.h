#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace imprint {

/// A file read by position. Whatever is wrong with it is thrown as ConfigError naming the file.
class InputFile {
 public:
  /// Refuses what is not there, cannot be read or is no ordinary file.
  explicit InputFile(std::filesystem::path path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  uint64_t size() const { return size_; }
  /// Exactly `bytes` bytes from `offset` on; refuses a file that ends before.
  void read(uint64_t offset, void* to, uint64_t bytes) const;
  std::string text(uint64_t offset, uint64_t bytes) const;
  /// The whole file in memory, its pages shared with everybody who maps it until somebody writes
  /// into them, which never reaches the file. Lives as long as a copy of the pointer does.
  std::shared_ptr<char> mapped() const;
  /// Throws ConfigError "<path>: <why>"; shows nothing of `why` that cannot be printed.
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  std::filesystem::path path_;
  int fd_ = -1;
  uint64_t size_ = 0;
};

/// The disk is full, a folder cannot be written, a file cannot be put in place: whatever else is
/// tried will fail in the same way.
class StorageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A suffix that no other process on any machine gives to a file, and this one only once:
/// host-process-number.
std::string unique_suffix();

/// A file that appears under its name, whole and on disk, when publish() returns; destroyed before,
/// it leaves nothing. Throws StorageError when it cannot be written; then it is closed and the
/// target as it was.
class OutputFile {
 public:
  /// The folder of `target` must exist.
  explicit OutputFile(std::filesystem::path target);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  const std::filesystem::path& target() const { return target_; }
  /// Bytes written so far.
  uint64_t offset() const { return offset_; }
  void write(std::string_view bytes);
  void publish();

 private:
  void discard() noexcept;
  [[noreturn]] void fail(const std::string& what, int error);

  std::filesystem::path target_, temporary_;
  int fd_ = -1;  // -1: closed
  uint64_t offset_ = 0;
};

/// Writes a file whole or not at all.
void write_file(const std::filesystem::path& file, std::string_view contents);

/// Puts what was written to a file or into a folder on disk. Throws StorageError.
void sync_path(const std::filesystem::path& path);

}  // namespace imprint
