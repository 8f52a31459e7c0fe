#pragma once

#include <string>
#include <vector>

#include "framework/reports/expect.h"
#include "framework/reports/samples.h"

namespace imprint {

/// Finds the settings that a claim sets against each other; judge() has the rules. None of the
/// lists is empty: Missing is thrown when the results lack what the claim is about. The claim and
/// the rows must outlive it.
class Contenders {
 public:
  Contenders(const Claim& claim, const std::vector<ResultRow>& rows);

  /// The settings that the claim is about.
  std::vector<Sample> own() const;
  /// Those that a selector sets against `own`.
  std::vector<Sample> opponents(const Sample& own, const Selector& selector) const;
  /// Those that `own` must be below.
  std::vector<Sample> rivals(const Sample& own, const LowestAmong& form) const;

 private:
  std::vector<Sample> others(const Sample& own, const Selector& selector) const;
  double limit_for(const CellResult& cell, const Condition& condition) const;
  bool satisfies(const Sample& setting) const;
  void keep_satisfying(std::vector<Sample>& settings, const std::string& selector) const;

  const Claim& claim_;
  const std::vector<ResultRow>& rows_;
};

}  // namespace imprint
