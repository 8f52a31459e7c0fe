#pragma once

#include <vector>

#include "framework/privacy/intervals.h"

namespace imprint {

/// How useful a released model is, and how much it leaks.
struct TradeOff {
  double accuracy = 0, advantage = 0;
};

/// The privacy-utility frontier of some settings: at each test accuracy the lowest advantage of a
/// setting that is at least so accurate, with straight lines between the corners. (A coin between
/// two settings reaches the line between them on average, so nothing is promised that cannot be
/// had.) It is known between the lowest and the highest measured accuracy.
class Frontier {
 public:
  /// `settings` must not be empty, their numbers finite.
  explicit Frontier(std::vector<TradeOff> settings);

  /// The lowest and the highest measured accuracy.
  const Interval& range() const { return range_; }
  /// The settings that no other one beats; accuracy and advantage both rise. Of equals one is kept.
  const std::vector<TradeOff>& corners() const { return corners_; }

  /// Outside of range() that of the nearer end: for resamples, which must be compared at the same
  /// accuracy. Nothing that was measured is to be asked there.
  double at(double accuracy) const;
  /// The mean over the accuracies of `part`: the area divided by the width, or the value in its
  /// middle where that width is not above 0.
  double mean(const Interval& part) const;

 private:
  std::vector<TradeOff> corners_;
  Interval range_;
};

/// The accuracies that both frontiers have; the low end is above the high one where there is none.
Interval shared_range(const Frontier& a, const Frontier& b);

/// -1 where `own` lies below `rival` at every shared accuracy, 1 where it lies above, else 0.
int order(const Frontier& own, const Frontier& rival);

}  // namespace imprint
