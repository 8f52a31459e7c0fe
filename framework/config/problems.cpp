#include "framework/config/problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace imprint {
namespace {

// Optimal string alignment: insertions, deletions, substitutions and swapped neighbours cost one.
size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  std::iota(d[0].begin(), d[0].end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      d[i][j] =
          std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::string Mark::prefix() const {
  if (line == 0) return file.empty() ? "" : fmt::format("command line '{}': ", file);
  return fmt::format("{}{}{}:{}: ", file, file.empty() ? "" : ":", line, column);
}

void Problems::add(const Mark& mark, const std::string& message) {
  auto line = mark.prefix() + message;
  if (std::find(lines_.begin(), lines_.end(), line) == lines_.end())
    lines_.push_back(std::move(line));
}

void Problems::raise() const {
  if (!lines_.empty()) throw ConfigError(joined(lines_, "\n"));
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& allowed) {
  const auto nearest =
      std::min_element(allowed.begin(), allowed.end(), [&](const auto& a, const auto& b) {
        return edit_distance(word, a) < edit_distance(word, b);
      });
  if (nearest == allowed.end()) return "";
  const auto limit = std::max<size_t>(1, std::max(word.size(), nearest->size()) / 3);
  const auto distance = edit_distance(word, *nearest);
  // One letter for another is no misspelling but another word.
  return distance <= limit && distance < word.size() ? fmt::format("; did you mean '{}'?", *nearest)
                                                     : "";
}

std::string joined(const std::vector<std::string>& words, const std::string& separator) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

}  // namespace imprint
