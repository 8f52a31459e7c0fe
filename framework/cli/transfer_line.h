#pragma once

#include <chrono>
#include <string>

#include "framework/cli/rewritten_lines.h"

namespace imprint {

/// Shows how far a download is: a bar that rewrites its line on a terminal, a line every few
/// seconds elsewhere.
class TransferLine {
 public:
  /// Prints a line of its own.
  void say(const std::string& line);
  /// `whole` is 0 where it is not known.
  void draw(const std::string& file, int64_t done, int64_t whole);
  /// Ends the bar's line.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  std::string line(int64_t done, int64_t whole) const;

  RewrittenLines shown_;
  std::string file_;
  int64_t first_ = 0;  ///< bytes that were there when it began
  Clock::time_point start_{};
};

/// "26.4 MB", "512 bytes".
std::string byte_count(int64_t bytes);

}  // namespace imprint
