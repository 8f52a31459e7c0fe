#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "framework/privacy/intervals.h"  // IWYU pragma: export
#include "framework/privacy/p1.h"         // IWYU pragma: export

namespace imprint {

/// Receiver operating characteristic, one point per distinct score from the highest down, ties
/// merged, (0, 0) first and (1, 1) last. `threshold[i]` is the score at which point i is reached
/// (member iff score >= threshold); the first is +infinity and stands for "nobody is a member",
/// even where a candidate scores +infinity and the second threshold is +infinity as well.
struct Roc {
  std::vector<double> threshold, fpr, tpr;
};

/// True positive rate at a false positive rate of at most `fpr`.
struct TprAt {
  double fpr = 0;           ///< the level asked for
  double fpr_realised = 0;  ///< the largest attainable rate not above it
  double tpr = 0;
  int64_t hits = 0;  ///< members found: tpr = hits / members
  int64_t members = 0;
  Interval interval;    ///< Clopper-Pearson on hits of members
  bool enough = false;  ///< false: fewer than 1 / fpr non-members, so the number says nothing
};

/// Area under the curve (Mann-Whitney, a tie counts one half) and its variance by DeLong et al.
/// 1988: infinite when a group holds a single record, whose spread is unknown.
struct Auc {
  double value = 0;
  double variance = 0;
};

/// What one attack achieved on one target. `advantage` is the attack's own decision;
/// `advantage_best` picks the threshold with the answers in hand and is therefore optimistic.
struct Score {
  int64_t members = 0, non_members = 0;
  bool decided = true;  ///< false: no decisions; void up to `advantage_interval`
  double tpr = 0, fpr = 0;
  double precision = 0;  ///< 0 when nothing is called a member
  double recall = 0;
  double advantage = 0;         ///< tpr - fpr
  Interval advantage_interval;  ///< Newcombe
  double advantage_best = 0;    ///< largest tpr - fpr of the curve, at least 0
  double auc = 0;
  Interval auc_interval;      ///< see auc_interval()
  std::vector<TprAt> tpr_at;  ///< at reported_fprs()
};

/// The false positive rates at which true positive rates are reported: 0.001, 0.01, 0.1.
std::span<const double> reported_fprs();

// In all that follows `member[i]` is 1 for members, and both members and non-members must be
// present. Scores may be infinite, never NaN. A broken contract throws std::invalid_argument.

/// The whole curve. O(n log n).
Roc roc(std::span<const double> scores, std::span<const uint8_t> member);

/// Keeps at most `points` (two or more) points of a curve, both ends and the low-FPR part included,
/// for drawing.
Roc thinned(const Roc& curve, size_t points);

/// The area under the curve. O(n log n).
Auc auc(std::span<const double> scores, std::span<const uint8_t> member);

/// Everything about one attack on one target; `decisions[i]` is 1 where the attack says member. An
/// attack that makes no decisions gives none at all.
Score score(std::span<const double> scores, std::span<const uint8_t> decisions,
            std::span<const uint8_t> member);

/// The threshold t that maximises (mean(member >= t) + mean(non-member < t)) / 2 over the values
/// seen; of equally good ones the largest. O(n log n).
double best_threshold(std::span<const double> scores, std::span<const uint8_t> member);

/// [classes] the best threshold of each class `y[i]`; a class without members or without
/// non-members gets the one for all. `member[i]` is 0 or 1. O(n log n).
std::vector<double> class_thresholds(std::span<const double> scores,
                                     std::span<const uint8_t> member, std::span<const int64_t> y,
                                     int64_t classes);

}  // namespace imprint
