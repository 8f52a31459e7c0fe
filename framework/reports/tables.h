#pragma once

#include <nlohmann/json.hpp>
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

/// Whether a column of results.csv differs between the attacks on one cell.
bool depends_on_attack(const std::string& column);

/// A swept value as JSON: a number where the whole text reads as one.
nlohmann::json number_or_text(const std::string& text);

/// results.csv. Doubles are the shortest text that reads back to the same bits. Where a false
/// positive rate cannot be resolved, its rate, interval and hits are empty.
std::string results_csv(const Results& results);

/// metrics.csv: cell, seed, target, metric, value, low, high, n.
std::string metrics_csv(const Results& results);

/// Both files as lists of objects ("results", "metrics"; null for empty fields, swept values that
/// read as numbers are numbers), with "name", "attacks" (name -> threat model), "verdicts", "notes"
/// and "environment".
nlohmann::json results_json(const Results& results);

/// One line per setting, its seeds taken together, for a terminal of `width` columns. Columns are
/// left out, the least important first, until the lines fit.
std::string console_table(const Results& results, int width);

}  // namespace imprint
