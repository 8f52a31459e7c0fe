#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace imprint {

/// Seconds since 1970, the clock of TensorBoard's events.
double wall_time_now();

/// CRC-32C (Castagnoli), which frames the records of event files.
uint32_t crc32c(std::string_view bytes);

/// Writes one TensorBoard event file. The summaries are the classic ones (`simple_value`, `histo`,
/// `image`), which TensorBoard's fast data server, its Python loader and
/// `EventAccumulator.Scalars()` all read.
///
/// Every record is written at once: after a kill all records but the torn last one are readable.
/// The same calls with the same wall times give the same bytes. Tags and texts are UTF-8. One
/// logger per folder, since TensorBoard takes a folder for one run; not for use by several threads
/// at once. Throws std::runtime_error when the file cannot be written; a record that failed is cut
/// off again.
class TensorBoardLogger {
 public:
  /// Creates the folder if need be, and in it a new `events.out.tfevents.<time>.<host>.<pid>.<n>`.
  explicit TensorBoardLogger(const std::filesystem::path& folder);

  /// Writes `events.out.tfevents.<suffix>` from its beginning: a resumed run that logs everything
  /// again under its old suffix replaces its file instead of adding a second one.
  TensorBoardLogger(const std::filesystem::path& folder, std::string_view suffix, double wall_time);

  /// One point of a curve, kept in single precision; NaN and infinities are points like any other.
  void scalar(std::string_view tag, double value, int64_t step, double wall_time = wall_time_now());

  /// Distribution of the finite values; there may be none. Magnitudes beyond single precision,
  /// which TensorBoard cannot draw, count at its largest number.
  void histogram(std::string_view tag, std::span<const double> values, int64_t step,
                 double wall_time = wall_time_now());

  /// A PNG file; `channels` is 1 (grey), 3 (RGB) or 4 (RGBA).
  void image(std::string_view tag, std::string_view png, int width, int height, int channels,
             int64_t step, double wall_time = wall_time_now());

  /// A text, shown as Markdown.
  void text(std::string_view tag, std::string_view markdown, int64_t step,
            double wall_time = wall_time_now());

  /// The event file.
  const std::filesystem::path& path() const { return path_; }

 private:
  /// Owns a descriptor, so that the logger itself needs neither destructor nor moves.
  class Descriptor {
   public:
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
      std::swap(fd_, other.fd_);
      return *this;
    }
    ~Descriptor() {
      if (fd_ >= 0) ::close(fd_);
    }
    int get() const { return fd_; }

   private:
    int fd_;
  };

  void write(std::string_view event);

  std::filesystem::path path_;
  Descriptor file_;
  int64_t size_ = 0;  // of the whole records
};

}  // namespace imprint
