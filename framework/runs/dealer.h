#pragma once

#include <map>
#include <memory>
#include <string>

#include "framework/runs/experiment.h"

namespace imprint {

/// Records loaded and dealt out, shared by all jobs of a run.
struct Deal {
  Dataset data;
  Partition partition;
  Stream stream;        ///< of the split
  std::string records;  ///< digest of the data
  std::string split;    ///< digest of who gets which record
};

/// Loads each choice of data once, and deals it out once per split and seed.
class Dealer {
 public:
  /// `problems` hears of what only the data can tell: too few records, a loss that needs two
  /// classes.
  explicit Dealer(Problems& problems) : problems_(problems) {}

  /// Null when there is a problem.
  std::shared_ptr<const Deal> deal_for(const Cell& cell);

 private:
  const Loaded& loaded(const DataChoice& choice);
  bool fits(const Cell& cell, const Dataset& data);

  Problems& problems_;
  std::map<std::string, Loaded> loaded_;  ///< by address; without a digest: could not be loaded
  std::map<std::string, std::shared_ptr<const Deal>> deals_;
};

}  // namespace imprint
