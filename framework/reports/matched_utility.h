#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "framework/reports/ground.h"
#include "framework/reports/results.h"
#include "framework/reports/summary.h"

namespace imprint {

/// A difference in advantage between two curves at equal test accuracy, below 0 where the first
/// leaks less. With several seeds (or targets), `spread.repeats` is Student's interval of the
/// paired differences. With a single run, `spread.records` is a parametric bootstrap over records
/// (UtilityCurve::redrawn): 1.96 standard deviations of the resamples to both sides. It says
/// nothing about another seed.
struct MatchedDifference {
  double accuracy = 0;  ///< at which, mean over the runs that have it
  Spread spread;
};

/// Two curves on the same ground (see ground.h), compared at accuracies that both reach in
/// the same run; a run is a seed and a target. Differences are own - rival.
struct MatchedPair {
  Task task;
  std::string own, rival;  ///< names of the curves
  bool own_undefended = false, rival_undefended = false;
  std::string attack;       ///< empty: on each cell its strongest
  int64_t repetitions = 0;  ///< in common; see Spread
  std::string over = "seeds";
  std::optional<Interval> shared;  ///< accuracies that both reach, mean over runs
  /// At the undefended model's accuracy, in the middle of the shared accuracies, and on average
  /// over them. Absent where no run has it.
  std::optional<MatchedDifference> undefended, middle, mean;
  int order = 0;  ///< -1: `own` leaks less at every shared accuracy of every run; 1: more; 0: else
};

/// All pairs of curves on the same ground, in the order of the results, what is undefended second.
/// `attack` is a name, or empty for the strongest on each cell. Of several undefended models the
/// most accurate one is the bar.
std::vector<MatchedPair> matched_pairs(const Results& results, const std::string& attack = "");

/// A setting that no other one on the same ground beats: none is at least as accurate, leaks at
/// most as much, and is better in one of both. Judged by means over seeds; attackers that do not
/// know the defense are left out.
struct ParetoSetting {
  Task task;
  std::string setting;
  std::string attack;  ///< the strongest on the setting
  Spread accuracy, advantage;
  bool undefended = false;
};
std::vector<ParetoSetting> pareto_front(const Results& results);

/// "At the undefended accuracy of 0.681, ccl leaks 0.083 less than dropout (95 % over 3 seeds:
/// 0.041 to 0.125)." Where that accuracy is not shared, in the middle of those that are; where none
/// is, it says so.
std::string matched_sentence(const MatchedPair& pair);

/// The defense that leaks less than all others that reach the undefended accuracy, beside the next
/// of them; of several grounds, that with the most accurate undefended model. Empty where there is
/// none. The pairs must be of one task and attack.
std::string leading_sentence(const std::vector<MatchedPair>& pairs);

/// The names of all attacks, in the order in which they first appear.
std::vector<std::string> attacks_of(const Results& results);

/// "pairs" under the strongest attack (null) and under each, and "pareto".
nlohmann::json matched_json(const Results& results);

}  // namespace imprint
