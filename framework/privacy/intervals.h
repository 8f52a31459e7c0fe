#pragma once

#include <cstdint>
#include <span>

namespace imprint {

/// A two-sided interval; 95 % wherever nothing else is said.
struct Interval {
  double low = 0;
  double high = 0;
};

/// part / whole, which must not be 0.
inline double ratio(int64_t part, int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

/// Exact binomial interval for `hits` of `n`; [0, 1] when n is 0.
Interval clopper_pearson(int64_t hits, int64_t n, double level = 0.95);

/// Newcombe's hybrid-score interval for hits1/n1 - hits2/n2 (Newcombe 1998, method 10). Both groups
/// must hold a record.
Interval newcombe(int64_t hits1, int64_t n1, int64_t hits2, int64_t n2, double level = 0.95);

/// Student's interval for a mean; needs at least two values, else it is the whole line.
Interval mean_interval(std::span<const double> values, double level = 0.95);

/// Interval for an area under the curve, from its DeLong variance on the logit scale, hence inside
/// [0, 1]. That variance is 0 at an area of 0 or 1 and when all scores are equal, and infinite when
/// a group holds a single record. The area then counts as a proportion of the smaller group: the
/// Clopper-Pearson interval of auc * n of n, n = min(members, non_members), so that e.g. a perfect
/// attack on 20 + 500 records gets [0.025^(1/20), 1] = [0.83, 1].
Interval auc_interval(double auc, double variance, int64_t members, int64_t non_members,
                      double level = 0.95);

}  // namespace imprint
