#pragma once

#include <torch/types.h>

namespace imprint {

using torch::Tensor;

/// What can be learned from records that show one of a few patterns: how much more often members
/// show it than others do.
class PatternTable {
 public:
  /// From records whose membership is known; `patterns` [n] are numbers below `kinds`.
  PatternTable(const Tensor& patterns, const Tensor& member, int64_t kinds);

  /// [n] log of P(pattern | member) / P(pattern | other). One imagined record of each pattern on
  /// each side keeps it finite; a pattern that nobody showed has 0.
  Tensor log_odds(const Tensor& patterns) const { return odds_.index_select(0, patterns); }

 private:
  Tensor odds_;  ///< [kinds] double
};

}  // namespace imprint
