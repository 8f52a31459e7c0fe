#pragma once

#include <chrono>
#include <string>

namespace imprint {

/// How far something is, on the error stream: one line that rewrites itself on a terminal, a new
/// line every few seconds elsewhere.
class RewrittenLine {
 public:
  RewrittenLine();

  /// Whether enough time has passed since the last one.
  bool due() const;
  void show(const std::string& text);
  /// Ends the line, so that something else can be printed.
  void finish();
  bool on_terminal() const { return terminal_; }

 private:
  using Clock = std::chrono::steady_clock;

  bool terminal_;
  Clock::time_point shown_;
  size_t width_ = 0;
};

}  // namespace imprint
