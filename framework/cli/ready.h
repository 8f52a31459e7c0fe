#pragma once

#include "framework/cli/commands.h"
#include "framework/reports/expect.h"
#include "framework/runs/plan.h"

namespace imprint {

/// An experiment with everything in it checked that can be checked before the first training.
struct Ready {
  Experiment experiment;
  std::vector<Claim> claims;
  Plan plan;
};

/// Reads the experiment file and plans. Throws ConfigError with all problems.
Ready prepare(const RunOptions& options);

/// Where reusable results lie: as asked for, else $IMPRINT_STORE, else `store`.
std::filesystem::path store_folder(const RunOptions& options);

}  // namespace imprint
