#pragma once

#include <string>
#include <utility>
#include <vector>

#include "framework/reports/samples.h"

namespace imprint {

/// The settings of a sweep along one path, everything else equal.
struct Strand {
  std::string path;
  std::string rest;  ///< label and the other swept keys: "ccl, train.epochs=10"
  std::vector<std::pair<std::string, Sample>> points;  ///< value of the path -> what was measured
};

/// The strands along the swept path that `over` stands for; samples without it are in none. Points
/// are in the order of their numbers, or of the file where they are not all numbers.
std::vector<Strand> strands(const std::vector<Sample>& samples, const std::string& over);

/// "0.500, 0.412 (ccl.alpha=0.1, 0.5)"; with the rest in front of the path unless `alone`.
std::string strand_text(const Strand& strand, bool alone);

}  // namespace imprint
