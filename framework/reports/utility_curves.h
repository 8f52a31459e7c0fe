#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "framework/reports/frontier.h"
#include "framework/reports/summary.h"

namespace imprint {

/// Of 97.5 % of the normal distribution: half of a 95 % interval, in standard errors.
inline constexpr double kNormalQuantile = 1.959964;

/// Seed and target.
using Run = std::pair<int64_t, int64_t>;

/// The settings of one label on one ground: in every run, a trade-off of accuracy and advantage.
struct UtilityCurve {
  const CellResult* cell = nullptr;  ///< the first one; it belongs to the Results
  std::string name;                  ///< the label, and the ground: "ccl (epochs=30)"
  std::map<Run, Frontier> frontiers;
  /// A parametric bootstrap over records where there is a single run, else empty: the frontier with
  /// the hits and false alarms of each setting drawn anew from their binomials, and its accuracy
  /// from the normal of its interval, each on its own. In truth all settings share their records,
  /// so that what is made of these is too wide rather than too narrow. Which attack is the
  /// strongest counts as known.
  std::vector<Frontier> redrawn;

  bool undefended() const { return cell->defense == "none"; }
};

/// All curves, in the order in which they first appear. The advantage is that of the attack named,
/// or with an empty name of the strongest on each cell. Left out are cells without it or without
/// test accuracy, and those whose attackers do not know the defense. The same results give the same
/// bits, and a curve's draws do not depend on the others.
std::vector<UtilityCurve> utility_curves(const Results& results, const std::string& attack);

}  // namespace imprint
