#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace imprint {

/// How far something is, on the error stream: lines that rewrite themselves on a terminal, a new
/// line every few seconds elsewhere.
class RewrittenLines {
 public:
  RewrittenLines();

  /// Whether enough time has passed since the last ones.
  bool due() const;
  /// Shows them in place of the last ones; elsewhere than on a terminal only the last of them.
  void show(const std::vector<std::string>& lines);
  /// Leaves what is shown, so that something else can be printed below it.
  void finish();
  bool on_terminal() const { return terminal_; }

 private:
  using Clock = std::chrono::steady_clock;

  bool terminal_;
  Clock::time_point shown_;
  size_t height_ = 0;  ///< of what is shown
};

/// Columns of the terminal behind a stream (STDOUT_FILENO...); `fallback` where there is none.
int terminal_width(int stream, int fallback);

}  // namespace imprint
