#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace imprint {

/// Bytes that are read once, from the first to the last: a file, or one member of an archive.
/// Every call throws ConfigError, with the name of the source, when the bytes are damaged.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Reads up to `bytes` (above 0) bytes and says how many; 0: the end.
  size_t some(void* to, size_t bytes);
  /// Reads exactly `bytes` bytes; refuses a source that has fewer.
  void read(void* to, size_t bytes);
  /// Whether nothing is left. A byte that is left is lost.
  bool at_end();

  /// What messages call the source.
  const std::string& name() const { return name_; }
  /// Throws ConfigError "<name>: <why>".
  [[noreturn]] void refuse(const std::string& why) const;

 protected:
  explicit ByteSource(std::string name) : name_(std::move(name)) {}
  /// As `some`, but the end need not be a good one.
  virtual size_t take(void* to, size_t bytes) = 0;
  /// Refuses a source that ended before it was complete.
  virtual void check_end() {}

 private:
  std::string name_;
};

/// A file, gzip-compressed or not.
std::unique_ptr<ByteSource> open_file(const std::filesystem::path& file);

/// The lines of a source, without their ends ("\n" or "\r\n") and without a byte order mark before
/// the first. Holds little more than one line at a time, and refuses one longer than `longest`.
class LineReader {
 public:
  static constexpr size_t longest = size_t{64} << 20;

  /// `source` must outlive the reader.
  explicit LineReader(ByteSource& source);

  /// The next line, valid until the next call; nothing at the end.
  std::optional<std::string_view> next();
  /// Number of the line given last, from 1.
  int64_t number() const { return number_; }
  const ByteSource& source() const { return source_; }

 private:
  bool fill();
  std::string_view given(std::string_view line);

  ByteSource& source_;
  std::vector<char> buffer_;
  size_t from_ = 0, to_ = 0;  ///< what was read and not yet given
  int64_t number_ = 0;
};

/// Text from a file as a message shows it: on one line, valid UTF-8, cut when it is long.
std::string printable(std::string_view text, size_t most = 40);

/// The same in single quotes.
std::string excerpt(std::string_view text);

}  // namespace imprint
