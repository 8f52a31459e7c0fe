#pragma once

#include <optional>
#include <string>
#include <vector>

#include "framework/reports/results.h"

namespace imprint {

/// One measured value, and the interval over records that came with it.
struct Reading {
  int64_t seed = 0, target = 0;
  double value = 0;
  std::optional<Interval> interval;
};

/// A quantity over repetitions of the same setting. `mean` is the mean over seeds of the mean over
/// each seed's targets. `records` is what one model's records allow to say: the ends of the
/// readings' intervals, averaged. `repeats` is Student's interval over seeds, or over targets where
/// there is only one seed; absent where nothing was repeated.
struct Spread {
  double mean = 0;
  std::optional<Interval> records, repeats;
  int64_t repetitions = 1;
  std::string over = "seeds";  ///< what was repeated: seeds or targets
};

/// `readings` must not be empty.
Spread spread(const std::vector<Reading>& readings);

/// One attack on all repetitions of a setting.
struct AttackSummary {
  std::string attack;
  Spread advantage_best, auc, epsilon_low;
  std::optional<Spread> advantage, p1;        ///< absent where a repetition has none
  std::vector<std::optional<Spread>> tpr_at;  ///< per reported_fprs(); absent where n is too small
  int64_t members = 0, non_members = 0;       ///< the fewest of any repetition
};

/// The cells that differ only in seed and target: one row of a table, one point of a figure.
struct Summary {
  std::vector<const CellResult*> cells;  ///< never empty; they belong to the Results
  std::optional<Spread> train_accuracy, test_accuracy, p1_cell;
  std::vector<AttackSummary> attacks;

  const CellResult& cell() const { return *cells.front(); }
  bool undefended() const { return cell().defense == "none"; }
  /// The attack with the largest mean advantage, or the largest AUC where one of them has no
  /// advantage; null without attacks.
  const AttackSummary* strongest() const;
  /// Of what is known about every repetition, for how many there are; null without attacks and
  /// accuracy.
  const Spread* repeated() const;
};

/// One summary per setting, in the order in which the settings first appear. The summaries point
/// into `results`.
std::vector<Summary> summarise(const Results& results);

/// The swept path that says whether attackers know the defense: their shadows have it (same) or not
/// (none).
inline constexpr auto kShadowDefense = "shadows.defense";

/// Whether the attackers of a cell do not know the defense, as far as that was swept.
bool blindfolded(const CellResult& cell);

/// Whether a path belongs to one of the cell's own defenses: "ccl.alpha" in a cell of ccl.
bool of_defense(const std::string& path, const CellResult& cell);

/// What makes two cells repetitions of one setting.
bool same_setting(const CellResult& a, const CellResult& b);

/// "alpha=0.5, epoch=25": the swept keys without their paths, unless two of them end alike.
std::string swept_text(const CellResult& cell);

/// The label, and what was swept: "ccl (alpha=0.5)".
std::string setting_text(const CellResult& cell);

/// The findings in plain sentences, one paragraph per task (data set, model and number
/// of members), drawn only from what is
/// there; absent things are named as absent.
std::vector<std::string> findings(const Results& results);

/// "0.412": three decimals, never "-0.000".
std::string decimals(double value);

/// "0.381, 0.443".
std::string decimals(const Interval& interval);

/// "one seed", "3 seeds".
std::string counted(int64_t n, const std::string& noun);

}  // namespace imprint
