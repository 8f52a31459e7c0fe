#pragma once

#include <string>
#include <variant>
#include <vector>

#include "framework/reports/results.h"
#include "framework/reports/selector.h"

namespace imprint {

/// `above` or `below` a number or other cells; with a margin, no more than that on the wrong side.
struct Against {
  bool above = true;
  std::variant<double, Selector> limit;
  double margin = 0;
};

/// `near: [value, tolerance]`.
struct Near {
  double value = 0, tolerance = 0;
};

/// `monotone`: along a swept path, given whole or by its end.
struct Monotone {
  std::string over;
  bool increasing = true;
};

/// `lowest_among`: below every rival.
struct LowestAmong {
  std::vector<Selector> rivals;
};

/// One metric of `where`: keeps the settings whose mean over seeds is on this side of the limit, or
/// on it.
struct Condition {
  std::string metric;
  Against side;
};

/// One entry of the `expect` list of an experiment file.
struct Claim {
  std::string claim;      ///< what is claimed, in the author's words
  std::string metric;     ///< a numeric column of results.csv, or a metric `component.metric`
  std::string attack;     ///< empty: of each setting the attack with the largest mean advantage
  std::string published;  ///< the paper's numbers as text; may be empty
  bool scaled = false;    ///< the experiment is smaller than the published one
  Selector cell;
  std::vector<Condition> where;  ///< all must be met
  std::variant<Against, Near, Monotone, LowestAmong> form;
};

/// The claims of an `expect` list; null is an empty list. What is wrong goes to `problems`, and the
/// claims are then not fit to be judged.
std::vector<Claim> read_claims(const Value& expect, Problems& problems);

/// One verdict per claim, from differences between cells of the same seed: *holds* if the 95 %
/// interval of the mean difference lies wholly on the claimed side, *fails* if on the other, else
/// *undecided*. The interval is Student's over seeds; with one seed, the records' intervals of both
/// sides in quadrature, where the metric has them. A claim of several comparisons (`monotone`,
/// `lowest_among`) holds if all do and fails if one does.
///
/// A selector may match several settings. Of the claim's own, the one that speaks most for the
/// claim is compared, and named with how many there were; the interval does not know about this
/// choice. Of an opponent's, first those on the same ground count: the same data, model and swept
/// keys outside the defense, where the opponent's selector is silent. Then those that satisfy
/// `where`, unless a single one is left by then; of these, the hardest to beat. Rivals of
/// `lowest_among` are always held to `where`. `monotone` goes along every sweep that is matched.
std::vector<Verdict> judge(const std::vector<Claim>& claims, const Results& results);

}  // namespace imprint
