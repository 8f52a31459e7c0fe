#include "framework/reports/selector.h"

#include <fmt/format.h>

#include <algorithm>

#include "framework/config/keys.h"

namespace imprint {
namespace {

bool same_value(const std::string& a, const std::string& b) {
  const auto x = as_number(Value::scalar(a)), y = as_number(Value::scalar(b));
  return x && y ? *x == *y : a == b;
}

bool matches_key(const std::string& key, const std::string& value, const CellResult& cell) {
  if (key == "defense") return value == cell.defense || value == cell.label;
  if (key == "label") return value == cell.label;
  if (key == "data") return value == cell.data;
  if (key == "model") return value == cell.model;
  if (key == "chosen") return (value == "true") == cell.chosen;
  if (key == "seed") return same_value(value, std::to_string(cell.seed));
  return std::any_of(cell.swept.begin(), cell.swept.end(), [&](const auto& swept) {
    return stands_for(key, swept.first) && same_value(value, swept.second);
  });
}

void check_value(const std::string& key, const Value& value, Problems& problems) {
  const bool name = key == "defense" || key == "label" || key == "data" || key == "model";
  if (value.kind == Value::Kind::null) {
    problems.add(value.mark, fmt::format("{} has no value; say which cells are meant", key));
  } else if (key == "seed" && !as_integer(value)) {
    problems.add(value.mark, fmt::format("seed must be an integer, not {}", to_flow(value)));
  } else if (key == "chosen" && !as_flag(value)) {
    problems.add(value.mark, fmt::format("chosen must be true or false, not {}", to_flow(value)));
  } else if (name && !value.is_scalar()) {
    problems.add(value.mark, fmt::format("{} must be a name, not {}", key, to_flow(value)));
  }
}

}  // namespace

bool Selector::matches(const CellResult& cell) const {
  return std::all_of(keys.begin(), keys.end(), [&](const auto& entry) {
    return matches_key(entry.first, entry.second, cell);
  });
}

bool Selector::names(const std::string& path) const {
  return std::any_of(keys.begin(), keys.end(),
                     [&](const auto& entry) { return stands_for(entry.first, path); });
}

std::string Selector::text() const {
  std::vector<std::string> words;
  for (const auto& [key, value] : keys) words.push_back(fmt::format("{}: {}", key, value));
  return fmt::format("{{{}}}", joined(words));
}

bool stands_for(const std::string& key, const std::string& path) {
  return path == key || path.ends_with("." + key);
}

Selector read_selector(const Value& map, Problems& problems) {
  Selector selector;
  for (const auto& [key, mark, value] : map.entries) {
    check_value(key, value, problems);
    selector.keys.emplace_back(key, value.is_scalar() ? value.text : to_flow(value));
  }
  return selector;
}

}  // namespace imprint
