#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "framework/reports/results.h"

namespace imprint {

/// One per setting in which some attack flags somebody and that has at least two attacks, seeds or
/// targets to compare.
std::vector<Exposure> exposures(const Results& results);

/// The difference that knowing the defense makes to an attacker.
struct Adaptivity {
  std::string setting, attack;
  double adaptive = 0, other = 0;  ///< mean advantages with shadows like the target, and undefended
  double difference = 0;           ///< of the two, paired by seed and target
  std::optional<double> low = {}, high = {};  ///< Student's over the pairs; absent with one
};

/// One per attack of each pair of settings that differ only in `shadows.defense`.
std::vector<Adaptivity> adaptivity(const Results& results);

}  // namespace imprint
