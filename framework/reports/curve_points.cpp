#include "framework/reports/curve_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace imprint {
namespace {

using nlohmann::json;

json value_of(const ResultRow& row, const std::string& column) {
  for (const auto& [path, value] : row.cell->swept) {
    if (path == column) return number_or_text(value);
  }
  if (row.values.contains(column)) return row.values[column];
  const auto* found = metric_of(*row.cell, column);
  return found ? json(found->value) : json();
}

std::string text_of(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return "";
  return value.is_number() ? fmt::format("{}", value.get<double>()) : value.dump();
}

bool finite_or_text(const json& value) {
  return value.is_string() || (value.is_number() && std::isfinite(value.get<double>()));
}

/// Rows of one point: repetitions of a setting, and of an attack where the figure depends on it.
struct Group {
  std::vector<const ResultRow*> rows;
  std::string panel, group, attack, x, y;

  bool takes(const ResultRow& row, const Group& like) const {
    return same_setting(*rows.front()->cell, *row.cell) && panel == like.panel &&
           group == like.group && attack == like.attack && x == like.x && y == like.y;
  }
};

Group key_of(const ResultRow& row, const Figure& figure, bool per_attack) {
  const auto x = value_of(row, figure.x), y = value_of(row, figure.y);
  return {.rows = {&row},
          .panel = column_text(row, figure.panel),
          .group = column_text(row, figure.group),
          .attack = per_attack && row.attack ? row.attack->attack : "",
          .x = x.is_string() ? text_of(x) : "",
          .y = y.is_string() ? text_of(y) : ""};
}

std::vector<Group> grouped(const std::vector<ResultRow>& rows, const Figure& figure) {
  bool per_attack = false;
  for (const auto& column : {figure.x, figure.y, figure.group, figure.panel}) {
    per_attack |= depends_on_attack(column);
  }
  std::vector<Group> groups;
  for (const auto& row : rows) {
    const auto x = value_of(row, figure.x);
    const bool no_x = x.is_null() && row.cell->defense == "none";
    if (!finite_or_text(value_of(row, figure.y)) || !(no_x || finite_or_text(x))) continue;
    const auto key = key_of(row, figure, per_attack);
    const auto found = std::find_if(groups.begin(), groups.end(),
                                    [&](const Group& group) { return group.takes(row, key); });
    if (found == groups.end()) {
      groups.push_back(key);
    } else {
      found->rows.push_back(&row);
    }
  }
  return groups;
}

/// The mean of numbers, or the text itself.
std::pair<json, Spread> located(const Group& group, const std::string& column) {
  const auto first = value_of(*group.rows.front(), column);
  if (!first.is_number()) return {first, Spread{}};
  std::vector<Reading> readings;
  for (const auto* row : group.rows) {
    const auto value = value_of(*row, column);
    if (!value.is_number()) continue;
    readings.push_back(
        {row->cell->seed, row->cell->target, value.get<double>(), interval_of(*row, column)});
  }
  const auto result = spread(readings);
  return {result.mean, result};
}

std::string counts(const Group& group, const Spread& spread) {
  const auto* attack = group.rows.front()->attack;
  const auto repeated = counted(spread.repetitions, spread.over == "seeds" ? "seed" : "target");
  if (!attack) return repeated;
  return fmt::format("{} members, {} non-members, {}", attack->score.members,
                     attack->score.non_members, repeated);
}

/// The key along which a curve runs: of several swept ones, that with the most values.
std::string main_key(const std::vector<const CellResult*>& cells) {
  std::map<std::string, std::set<std::string>> values;
  for (const auto* cell : cells) {
    for (const auto& [path, value] : cell->swept) values[path].insert(value);
  }
  std::string best;
  for (const auto& [path, seen] : values) {
    if (best.empty() || seen.size() > values[best].size()) best = path;
  }
  return best;
}

std::string strand_of(const CellResult& cell, const std::string& main, const std::string& attack) {
  auto text = fmt::format("{}|{}", cell.label, attack);
  for (const auto& [path, value] : cell.swept) {
    if (path != main) text += fmt::format("|{}={}", path, value);
  }
  return text;
}

std::vector<json> swept_values(const CellResult& cell) {
  std::vector<json> values;
  for (const auto& [path, value] : cell.swept) values.push_back(number_or_text(value));
  return values;
}

/// Rank of each distinct combination of swept values.
std::map<std::vector<json>, int64_t> ranks(const Results& results) {
  std::map<std::vector<json>, int64_t> order;
  for (const auto& cell : results.cells) order[swept_values(cell)] = 0;
  int64_t rank = 0;
  for (auto& [values, place] : order) place = rank++;
  return order;
}

bool in_course(const Results& results, const std::string& metric) {
  return std::any_of(results.cells.begin(), results.cells.end(), [&](const CellResult& cell) {
    return std::any_of(cell.course.begin(), cell.course.end(),
                       [&](const EpochResult& each) { return each.metric == metric; });
  });
}

}  // namespace

std::string column_text(const ResultRow& row, const std::string& column) {
  return text_of(value_of(row, column));
}

std::vector<std::string> unknown_columns(const Results& results, const Figure& figure) {
  const auto rows = result_rows(results);
  const auto of_result = [&](const std::string& column) {
    return std::any_of(rows.begin(), rows.end(), [&](const ResultRow& row) {
      return row.values.contains(column) || metric_of(*row.cell, column);
    });
  };
  const bool over_epochs = figure.x == "epoch";
  std::vector<std::string> unknown;
  for (const auto& column : {figure.x, figure.y, figure.group, figure.panel}) {
    const bool of_course = over_epochs && (column == figure.x || column == figure.y);
    const bool known =
        column.empty() ||
        (of_course ? column == "epoch" || in_course(results, column) : of_result(column));
    if (!known) unknown.push_back(column);
  }
  return unknown;
}

std::vector<CurvePoint> curve_points(const Results& results, const Figure& figure) {
  std::map<std::string, std::vector<const CellResult*>> by_label;
  for (const auto& cell : results.cells) by_label[cell.label].push_back(&cell);
  const auto order = ranks(results);
  const auto rows = result_rows(results);
  std::vector<CurvePoint> points;
  for (const auto& group : grouped(rows, figure)) {
    const auto& cell = *group.rows.front()->cell;
    CurvePoint point;
    point.panel = group.panel;
    point.group = group.group;
    point.strand = strand_of(cell, main_key(by_label[cell.label]), group.attack);
    point.order = order.at(swept_values(cell));
    std::tie(point.x, point.x_spread) = located(group, figure.x);
    std::tie(point.y, point.y_spread) = located(group, figure.y);
    point.setting = setting_text(cell);
    point.attack = group.attack;
    point.counts = counts(group, point.y_spread);
    point.undefended = cell.defense == "none";
    points.push_back(std::move(point));
  }
  return points;
}

std::string repeated_over(const std::vector<CurvePoint>& points) {
  const auto found = std::find_if(points.begin(), points.end(), [](const CurvePoint& point) {
    return point.y_spread.repeats.has_value();
  });
  return found == points.end() ? "" : found->y_spread.over;
}

}  // namespace imprint
