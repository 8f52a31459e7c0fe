#include "framework/cli/transfer_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace imprint {

std::string byte_count(int64_t bytes) {
  const auto count = static_cast<double>(bytes);
  if (bytes < 1000) return fmt::format("{} bytes", bytes);
  if (bytes < 1'000'000) return fmt::format("{:.1f} kB", count / 1e3);
  if (bytes < 1'000'000'000) return fmt::format("{:.1f} MB", count / 1e6);
  return fmt::format("{:.1f} GB", count / 1e9);
}

void TransferLine::say(const std::string& line) {
  finish();
  fmt::print(stderr, "imprint: {}\n", line);
}

void TransferLine::draw(const std::string& file, int64_t done, int64_t whole) {
  if (file != file_) {
    finish();
    file_ = file, first_ = done, start_ = Clock::now(), shown_ = RewrittenLines();
  }
  if (shown_.due() || (done == whole && shown_.on_terminal())) shown_.show({line(done, whole)});
}

void TransferLine::finish() {
  shown_.finish();
  file_.clear();
}

std::string TransferLine::line(int64_t done, int64_t whole) const {
  const auto seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  const auto speed = static_cast<double>(done - first_) / std::max(seconds, 0.001);
  auto text = file_ + "  ";
  if (whole > 0) {
    const auto share = std::clamp(static_cast<double>(done) / static_cast<double>(whole), 0., 1.);
    const auto filled = static_cast<size_t>(share * 24);
    text += fmt::format("[{}{}] {:3.0f} %  {} of {}", std::string(filled, '#'),
                        std::string(24 - filled, '.'), 100 * share, byte_count(done),
                        byte_count(whole));
  } else {
    text += byte_count(done);
  }
  if (seconds > 0.5) text += fmt::format("  {}/s", byte_count(static_cast<int64_t>(speed)));
  return text;
}

}  // namespace imprint
