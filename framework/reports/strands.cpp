#include "framework/reports/strands.h"

#include <fmt/format.h>

#include <algorithm>

#include "framework/config/keys.h"
#include "framework/reports/comparison.h"

namespace imprint {
namespace {

std::string rest_of(const CellResult& cell, const std::string& path) {
  std::vector<std::string> words = {cell.label};
  for (const auto& [key, value] : cell.swept) {
    if (key != path) words.push_back(key + "=" + value);
  }
  return joined(words);
}

bool belongs(const Strand& strand, const CellResult& cell, const std::string& path) {
  const auto& first = strand.points.front().second.cell();
  return strand.path == path && strand.rest == rest_of(cell, path) && first.data == cell.data &&
         first.model == cell.model && first.defense == cell.defense;
}

void sort_points(Strand& strand) {
  auto& points = strand.points;
  const auto number = [](const auto& point) { return as_number(Value::scalar(point.first)); };
  const bool numbers = std::all_of(points.begin(), points.end(),
                                   [&](const auto& point) { return number(point).has_value(); });
  if (!numbers) return;
  std::stable_sort(points.begin(), points.end(),
                   [&](const auto& a, const auto& b) { return *number(a) < *number(b); });
}

}  // namespace

std::vector<Strand> strands(const std::vector<Sample>& samples, const std::string& over) {
  std::vector<Strand> all;
  for (const auto& sample : samples) {
    const auto& swept = sample.cell().swept;
    const auto along = std::find_if(swept.begin(), swept.end(), [&](const auto& entry) {
      return stands_for(over, entry.first);
    });
    if (along == swept.end()) continue;
    const auto found = std::find_if(all.begin(), all.end(), [&](const Strand& strand) {
      return belongs(strand, sample.cell(), along->first);
    });
    if (found == all.end()) {
      all.push_back(
          {along->first, rest_of(sample.cell(), along->first), {{along->second, sample}}});
    } else {
      found->points.emplace_back(along->second, sample);
    }
  }
  for (auto& strand : all) sort_points(strand);
  return all;
}

std::string strand_text(const Strand& strand, bool alone) {
  std::vector<std::string> means, values;
  for (const auto& [value, sample] : strand.points) {
    means.push_back(shown(sample.mean()));
    values.push_back(value);
  }
  return fmt::format("{} ({}{}={})", joined(means), alone ? "" : strand.rest + "; ", strand.path,
                     joined(values));
}

}  // namespace imprint
