#include "framework/cli/rewritten_lines.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

namespace imprint {
namespace {

// A line that wrapped could not be rewritten.
std::string cut(const std::string& line, int width) {
  return line.substr(0, static_cast<size_t>(std::max(width - 1, 1)));
}

}  // namespace

int terminal_width(int stream, int fallback) {
  winsize size{};
  const bool known = ::ioctl(stream, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : fallback;
}

// Elsewhere than on a terminal the first line comes after some seconds: short work needs none.
RewrittenLines::RewrittenLines()
    : terminal_(::isatty(STDERR_FILENO) == 1),
      shown_(terminal_ ? Clock::time_point{} : Clock::now()) {}

bool RewrittenLines::due() const {
  return Clock::now() - shown_ >= std::chrono::milliseconds(terminal_ ? 100 : 5000);
}

void RewrittenLines::show(const std::vector<std::string>& lines) {
  shown_ = Clock::now();
  if (!terminal_) {
    fmt::print(stderr, "imprint: {}\n", lines.back());
    return;
  }
  std::string text = height_ > 1 ? fmt::format("\r\033[{}A", height_ - 1) : "\r";
  const auto width = terminal_width(STDERR_FILENO, 80);
  for (size_t i = 0; i < lines.size(); ++i)
    text += (i == 0 ? "" : "\n") + cut(lines[i], width) + "\033[K";
  fmt::print(stderr, "{}\033[J", text);
  std::fflush(stderr);
  height_ = lines.size();
}

void RewrittenLines::finish() {
  if (height_ > 0) fmt::print(stderr, "\n");
  height_ = 0;
}

}  // namespace imprint
