#include "framework/reports/ground.h"

#include <fmt/format.h>

#include <algorithm>

#include "framework/reports/summary.h"

namespace imprint {
namespace {

/// "2,000".
std::string in_thousands(size_t n) {
  return n < 1000 ? std::to_string(n) : fmt::format("{},{:03}", in_thousands(n / 1000), n % 1000);
}

bool alike(size_t a, size_t b) { return 10 * std::max(a, b) <= 11 * std::min(a, b); }

}  // namespace

Task task_of(const CellResult& cell) { return {cell.data, cell.model, cell.member_records.size()}; }

bool same_task(const Task& a, const Task& b) {
  return a.data == b.data && a.model == b.model && alike(a.members, b.members);
}

std::string task_text(const Task& task, const std::vector<Task>& all) {
  const auto text = fmt::format("{} with {}", task.data, task.model);
  const bool unique = std::all_of(all.begin(), all.end(), [&](const Task& other) {
    return other.data != task.data || other.model != task.model || same_task(other, task);
  });
  return unique ? text : fmt::format("{}, {} members", text, in_thousands(task.members));
}

std::vector<std::pair<std::string, std::string>> ground_of(const CellResult& cell) {
  std::vector<std::pair<std::string, std::string>> ground;
  for (const auto& choice : cell.swept)
    if (!of_defense(choice.first, cell) && choice.first != kShadowDefense) ground.push_back(choice);
  return ground;
}

bool same_size(const CellResult& a, const CellResult& b) {
  return alike(a.member_records.size(), b.member_records.size());
}

bool same_ground(const CellResult& a, const CellResult& b) {
  if (!same_task(task_of(a), task_of(b))) return false;
  for (const auto& [path, value] : ground_of(a))
    for (const auto& [other_path, other_value] : ground_of(b))
      if (path == other_path && value != other_value) return false;
  return true;
}

}  // namespace imprint
