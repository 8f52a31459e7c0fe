#include "framework/reports/tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace imprint {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

template <typename T>
ordered_json or_null(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json();
}

std::vector<std::string> swept_keys(const Results& results) {
  std::vector<std::string> keys;
  for (const auto& cell : results.cells) {
    for (const auto& [path, value] : cell.swept) {
      if (std::find(keys.begin(), keys.end(), path) == keys.end()) keys.push_back(path);
    }
  }
  return keys;
}

void put_cell(ordered_json& row, const CellResult& cell, const std::vector<std::string>& swept) {
  row["cell"] = cell.id;
  row["data"] = cell.data;
  row["model"] = cell.model;
  row["defense"] = cell.defense;
  row["label"] = cell.label;
  for (const auto& key : swept) row[key] = nullptr;
  for (const auto& [path, value] : cell.swept) row[path] = value;
  row["seed"] = cell.foreign() ? ordered_json() : ordered_json(cell.seed);
  row["target"] = cell.target;
}

void put_level(ordered_json& row, const Score& score, double fpr) {
  TprAt at;
  for (const auto& candidate : score.tpr_at)
    if (candidate.fpr == fpr) at = candidate;
  const auto enough = [&](auto value) { return at.enough ? ordered_json(value) : ordered_json(); };
  row[fmt::format("tpr_at_{}", fpr)] = enough(at.tpr);
  row[fmt::format("tpr_at_{}_low", fpr)] = enough(at.interval.low);
  row[fmt::format("tpr_at_{}_high", fpr)] = enough(at.interval.high);
  row[fmt::format("fpr_realised_at_{}", fpr)] =
      at.fpr == fpr ? ordered_json(at.fpr_realised) : ordered_json();
  row[fmt::format("hits_at_{}", fpr)] = enough(at.hits);
}

/// The columns that belong to one attack, before and after those of the cell's P1.
ordered_json attack_columns(const AttackResult& attack) {
  const auto& score = attack.score;
  const auto decided = [&](double value) {
    return score.decided ? ordered_json(value) : ordered_json();
  };
  ordered_json row = {{"advantage", decided(score.advantage)},
                      {"advantage_low", decided(score.advantage_interval.low)},
                      {"advantage_high", decided(score.advantage_interval.high)},
                      {"advantage_best", score.advantage_best},
                      {"auc", score.auc},
                      {"auc_low", score.auc_interval.low},
                      {"auc_high", score.auc_interval.high}};
  for (const double fpr : reported_fprs()) put_level(row, score, fpr);
  row["precision"] = decided(score.precision);
  row["recall"] = decided(score.recall);
  row["epsilon_low"] = attack.epsilon_low;
  row["p1"] = or_null(attack.p1);
  return row;
}

void put_p1(ordered_json& row, const std::optional<CellP1>& p1) {
  row["p1_cell"] = p1 ? ordered_json(p1->value) : ordered_json();
  row["p1_cell_low"] = p1 ? ordered_json(p1->interval.low) : ordered_json();
  row["p1_cell_high"] = p1 ? ordered_json(p1->interval.high) : ordered_json();
  row["p1_cell_attack"] = p1 ? ordered_json(p1->attack) : ordered_json();
}

ordered_json row_values(const CellResult& cell, const AttackResult* attack,
                        const std::vector<std::string>& swept) {
  ordered_json row = ordered_json::object();
  put_cell(row, cell, swept);
  row["attack"] = attack ? ordered_json(attack->attack) : ordered_json();
  row["train_accuracy"] = or_null(cell.train_accuracy);
  row["test_accuracy"] = or_null(cell.test_accuracy);
  const auto columns = attack_columns(attack ? *attack : AttackResult{});
  for (const auto& [column, value] : columns.items()) {
    row[column] = attack ? value : ordered_json();
  }
  put_p1(row, cell.p1_cell);
  row["members"] = attack ? ordered_json(attack->score.members) : ordered_json();
  row["non_members"] = attack ? ordered_json(attack->score.non_members) : ordered_json();
  return row;
}

std::string field(const ordered_json& value) {
  if (value.is_null()) return "";
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  if (!value.is_string()) return value.dump();
  const auto& text = value.get_ref<const std::string&>();
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

std::string header(const ordered_json& row) {
  std::vector<std::string> names;
  for (const auto& [column, value] : row.items()) names.push_back(field(column));
  return fmt::format("{}\n", fmt::join(names, ","));
}

}  // namespace

std::string csv_line(const ordered_json& values) {
  std::vector<std::string> fields;
  for (const auto& value : values) fields.push_back(field(value));
  return fmt::format("{}\n", fmt::join(fields, ","));
}

std::vector<ResultRow> result_rows(const Results& results) {
  const auto swept = swept_keys(results);
  std::vector<ResultRow> rows;
  for (const auto& cell : results.cells) {
    if (cell.attacks.empty()) rows.push_back({&cell, nullptr, row_values(cell, nullptr, swept)});
    for (const auto& attack : cell.attacks) {
      rows.push_back({&cell, &attack, row_values(cell, &attack, swept)});
    }
  }
  return rows;
}

const MetricResult* metric_of(const CellResult& cell, const std::string& name) {
  const auto found = std::find_if(cell.metrics.begin(), cell.metrics.end(),
                                  [&](const MetricResult& each) { return each.metric == name; });
  return found == cell.metrics.end() ? nullptr : &*found;
}

std::optional<Interval> interval_of(const ResultRow& row, const std::string& column) {
  if (column == "test_accuracy" && row.cell->test_accuracy) return row.cell->test_accuracy_interval;
  if (const auto* found = metric_of(*row.cell, column);
      found != nullptr && found->low && found->high) {
    return Interval{*found->low, *found->high};
  }
  const auto low = row.values.find(column + "_low"), high = row.values.find(column + "_high");
  if (low == row.values.end() || high == row.values.end()) return std::nullopt;
  if (!low->is_number() || !high->is_number()) return std::nullopt;
  return Interval{low->get<double>(), high->get<double>()};
}

std::vector<std::string> numeric_columns() {
  static const std::set<std::string> words = {"cell", "data",   "model",  "defense",       "label",
                                              "seed", "target", "attack", "p1_cell_attack"};
  std::vector<std::string> names;
  const auto row = row_values({}, nullptr, {});
  for (const auto& [column, value] : row.items())
    if (!words.contains(column)) names.push_back(column);
  return names;
}

bool depends_on_attack(const std::string& column) {
  return column == "attack" || column == "members" || column == "non_members" ||
         attack_columns({}).contains(column);
}

json number_or_text(const std::string& text) {
  double value = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end ? json(value) : json(text);
}

std::vector<ordered_json> metric_rows(const Results& results) {
  std::vector<ordered_json> rows;
  for (const auto& cell : results.cells) {
    for (const auto& metric : cell.metrics) {
      rows.push_back({{"cell", cell.id},
                      {"seed", cell.foreign() ? ordered_json() : ordered_json(cell.seed)},
                      {"target", cell.target},
                      {"metric", metric.metric},
                      {"value", metric.value},
                      {"low", or_null(metric.low)},
                      {"high", or_null(metric.high)},
                      {"n", or_null(metric.n)}});
    }
  }
  return rows;
}

std::string results_csv(const Results& results) {
  std::string text = header(row_values({}, nullptr, swept_keys(results)));
  for (const auto& row : result_rows(results)) text += csv_line(row.values);
  return text;
}

std::string metrics_csv(const Results& results) {
  std::string text = "cell,seed,target,metric,value,low,high,n\n";
  for (const auto& row : metric_rows(results)) text += csv_line(row);
  return text;
}

}  // namespace imprint
