#include "framework/cli/rewritten_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace imprint {

// Elsewhere than on a terminal the first line comes after some seconds: short work needs none.
RewrittenLine::RewrittenLine()
    : terminal_(::isatty(STDERR_FILENO) == 1),
      shown_(terminal_ ? Clock::time_point{} : Clock::now()) {}

bool RewrittenLine::due() const {
  return Clock::now() - shown_ >= std::chrono::milliseconds(terminal_ ? 100 : 5000);
}

void RewrittenLine::show(const std::string& text) {
  shown_ = Clock::now();
  if (!terminal_) {
    fmt::print(stderr, "imprint: {}\n", text);
    return;
  }
  fmt::print(stderr, "\r{:<{}}", text, std::max(width_, text.size()));
  std::fflush(stderr);
  width_ = text.size();
}

void RewrittenLine::finish() {
  if (width_ > 0) fmt::print(stderr, "\n");
  width_ = 0;
}

}  // namespace imprint
