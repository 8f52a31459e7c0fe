#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "framework/reports/results.h"
#include "framework/reports/summary.h"
#include "framework/reports/tables.h"

namespace imprint {

/// One mark of a privacy-utility figure: a setting with its seeds taken together, in one panel.
struct CurvePoint {
  std::string panel, group;
  std::string strand;         ///< points are joined where panel, group and strand agree
  int64_t order = 0;          ///< along the strand: by the swept values, numbers as numbers
  nlohmann::json x, y;        ///< number or text; null where the cell has no such value
  Spread x_spread, y_spread;  ///< of numbers; without intervals for text
  std::string setting, attack, counts;  ///< for the reader
  bool undefended = false;
};

/// What a row says in a column of results.csv, a swept path or a metric, as text; empty where it
/// says nothing.
std::string column_text(const ResultRow& row, const std::string& column);

/// The columns that `figure` names and `results` lacks: neither a column of results.csv nor a
/// metric, or with the x `epoch` no scalar of a training.
std::vector<std::string> unknown_columns(const Results& results, const Figure& figure);

/// All points with a finite y, and a finite x unless they are undefended (they still give a level).
std::vector<CurvePoint> curve_points(const Results& results, const Figure& figure);

/// What the points repeat: "seeds", or "targets" where there is one seed; empty without
/// repetitions.
std::string repeated_over(const std::vector<CurvePoint>& points);

}  // namespace imprint
