#pragma once

#include <optional>
#include <string>
#include <vector>

#include "framework/reports/samples.h"
#include "framework/reports/summary.h"

namespace imprint {

/// One side of a claim set against the other, seed by seed.
struct Comparison {
  std::string own, rival;            ///< the two values, over the seeds that both sides have
  std::optional<Spread> difference;  ///< own - rival; absent when they have no seed in common
  std::string name;                  ///< tells it from the other comparisons of a claim
};

Comparison compare(const Sample& own, const Sample& rival, std::string name = "");
Comparison compare(const Sample& own, double limit);

/// "holds", "fails" or "undecided", and the comparison on which it hangs.
struct Decision {
  std::string verdict;
  const Comparison* by = nullptr;
};

/// Whether all differences (at least one) are above 0, or with a `sign` of -1 below it, or no more
/// than `margin` on the wrong side. The comparisons must outlive the decision.
Decision decide(const std::vector<Comparison>& comparisons, double sign, double margin = 0);

/// Whether the interval of a mean lies within `tolerance` of `value`.
std::string decide_near(const Spread& measured, double value, double tolerance);

/// "difference -0.031 [-0.045, -0.017], 3 seeds", or why there is no interval.
std::string interval_text(const Comparison& comparison);
std::string interval_text(const std::string& what, const Spread& spread);

/// Three decimals, or two digits of what is smaller than that.
std::string shown(double value);

}  // namespace imprint
