#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "framework/privacy/intervals.h"

namespace imprint {

/// Harmonic mean of utility and privacy (Liu et al. 2024): 2 acc (1 - adv) / (acc + 1 - adv), 0
/// when both are 0. An advantage below 0 counts as 0: an attack worse than guessing is no privacy
/// gained.
double p1(double accuracy, double advantage);

/// P1 of a whole cell: with the attack of the largest advantage.
struct CellP1 {
  double value = 0;
  std::string attack;  ///< the first of equally strong ones
  Interval interval;   ///< bootstrap over records that repeats the choice of the strongest attack
};

/// One attack's decisions on the candidates of a cell: 1 where it says member.
struct NamedDecisions {
  std::string attack;
  std::span<const uint8_t> decisions;
  std::span<const uint8_t> scored = {};  ///< 1 for candidates that it attacked; empty: all
};

/// `member[i]` is 1 for members; both groups must be present, among those that each attack scored,
/// else std::invalid_argument.
/// `correct[i]` tells whether test record i is classified correctly. When `paired`, the test
/// records are the non-members in the same order and are resampled together with them.
///
/// The interval is the percentile bootstrap of 1,000 resamples; members, non-members and unpaired
/// test records are drawn each on their own. The maximum over attacks can shift a resample's P1
/// down as a whole, so the interval is widened to hold the value where it would not. The same seed
/// gives the same bits.
CellP1 p1_cell(std::span<const NamedDecisions> attacks, std::span<const uint8_t> member,
               std::span<const uint8_t> correct, bool paired, uint64_t seed);

}  // namespace imprint
