#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "framework/reports/results.h"

namespace imprint {

/// One row of results.csv: the columns in their order, null where the file has an empty field.
/// Every row of one Results has the same columns. `attack` is null for a cell without attacks; both
/// pointers belong to the Results.
struct ResultRow {
  const CellResult* cell = nullptr;
  const AttackResult* attack = nullptr;
  nlohmann::ordered_json values;
};

/// One row per cell, target and attack; one with an empty attack for a cell that has none.
std::vector<ResultRow> result_rows(const Results& results);

/// A cell's metric of metrics.csv; null if it has none of that name.
const MetricResult* metric_of(const CellResult& cell, const std::string& name);

/// The interval over records of a column of results.csv, or of a metric; nothing where there is
/// none.
std::optional<Interval> interval_of(const ResultRow& row, const std::string& column);

/// The columns of results.csv that hold numbers.
std::vector<std::string> numeric_columns();

/// Whether a column of results.csv differs between the attacks on one cell.
bool depends_on_attack(const std::string& column);

/// A swept value as JSON: a number where the whole text reads as one.
nlohmann::json number_or_text(const std::string& text);

/// The rows of metrics.csv, null where the file has an empty field.
std::vector<nlohmann::ordered_json> metric_rows(const Results& results);

/// One line of a CSV file: the values of an object or a list, null as an empty field.
std::string csv_line(const nlohmann::ordered_json& values);

/// results.csv. Doubles are the shortest text that reads back to the same bits. Where a false
/// positive rate cannot be resolved, its rate, interval and hits are empty.
std::string results_csv(const Results& results);

/// metrics.csv: cell, seed, target, metric, value, low, high, n.
std::string metrics_csv(const Results& results);

/// Both files as lists of objects ("results", "metrics"; null for empty fields, swept values that
/// read as numbers are numbers), with "name", "attacks" (name -> threat model), "matched" (see
/// matched_json), "verdicts", "notes" and "environment".
nlohmann::json results_json(const Results& results);

/// One line per setting, its seeds taken together, for a terminal of `width` columns. Columns are
/// left out, the least important first, until the lines fit.
std::string console_table(const Results& results, int width);

/// For results of a single model: the findings, one line per attack, and the notes.
std::string console_report(const Results& results, int width);

}  // namespace imprint
