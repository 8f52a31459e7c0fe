#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/privacy/scoring.h"

namespace imprint {

/// One attack on one cell, scored.
struct AttackResult {
  std::string attack;  ///< name, with the swept keys of its variant: "confidence (of=max)"
  std::string threat;  ///< what the attacker is given, in words
  Score score;
  double p1 = 0;
  Roc roc;  ///< thinned for drawing
};

/// One scalar that an attack or a measure logged, named `component.metric`.
struct MetricResult {
  std::string metric;
  double value = 0;
  std::optional<double> low, high;
  std::optional<int64_t> n;
};

/// One point of the sweep with one seed, and one target in it.
struct CellResult {
  std::string id;                    ///< file name of its records and TensorBoard run
  std::string data, model, defense;  ///< registered names; a chain joined by '+'
  std::string label;                 ///< the curve it belongs to
  std::vector<std::pair<std::string, std::string>>
      swept;  ///< path -> value, in the order of the file
  int64_t seed = 0, target = 0;
  double train_accuracy = 0, test_accuracy = 0;
  Interval test_accuracy_interval;
  std::vector<AttackResult> attacks;
  std::optional<CellP1> p1_cell;  ///< absent without attacks
  std::vector<MetricResult> metrics;
};

/// A figure of the report: names of columns of results.csv.
struct Figure {
  std::string x = "test_accuracy", y = "advantage", group = "label", panel = "attack";
};

/// What a paper (or the author) claims, and what was found.
struct Verdict {
  std::string claim, published, measured, interval;
  std::string verdict;  ///< holds, fails, undecided
  bool scaled = false;
};

/// Everything a report is drawn from.
struct Results {
  std::string name;
  std::vector<CellResult> cells;
  std::vector<Figure> figures;
  std::vector<Verdict> verdicts;
  std::vector<std::string> notes;  ///< what the reader must know, one sentence each
  std::string config;              ///< the resolved experiment file
  nlohmann::json environment;
};

}  // namespace imprint
