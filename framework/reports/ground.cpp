#include "framework/reports/ground.h"

#include <algorithm>

#include "framework/reports/summary.h"

namespace imprint {

std::vector<std::pair<std::string, std::string>> ground_of(const CellResult& cell) {
  std::vector<std::pair<std::string, std::string>> ground;
  for (const auto& choice : cell.swept)
    if (!of_defense(choice.first, cell) && choice.first != kShadowDefense) ground.push_back(choice);
  return ground;
}

bool same_size(const CellResult& a, const CellResult& b) {
  const auto [less, more] = std::minmax({a.member_records.size(), b.member_records.size()});
  return 10 * more <= 11 * less;
}

bool same_ground(const CellResult& a, const CellResult& b) {
  if (a.data != b.data || a.model != b.model || !same_size(a, b)) return false;
  for (const auto& [path, value] : ground_of(a))
    for (const auto& [other_path, other_value] : ground_of(b))
      if (path == other_path && value != other_value) return false;
  return true;
}

}  // namespace imprint
