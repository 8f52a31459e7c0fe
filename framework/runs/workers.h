#pragma once

#include <functional>
#include <set>
#include <string>

#include "framework/runs/work.h"

namespace imprint {

/// What a worker reports.
struct Progress {
  enum class Kind { started, epoch, done, failed };
  Kind kind;
  size_t worker = 0;
  std::string address;
  EpochRow row;         ///< of an epoch
  std::string message;  ///< of a failure
};

/// How a run ended.
struct Outcome {
  size_t done = 0;                                          ///< jobs done now
  std::vector<std::pair<std::string, std::string>> failed;  ///< address -> message
  bool interrupted = false;
};

/// Does all jobs of a plan that are not in the store, in `workers` processes forked from this one,
/// so that they share the data in memory. `listen` hears everything that happens, about ten times a
/// second at least (`idle`). Jobs that need a failed one are left out. Progress files go to
/// `folder`. Nothing in this process may have used more than one thread before.
Outcome run_workers(const Plan& plan, const Store& store, size_t workers,
                    const std::filesystem::path& folder,
                    const std::function<void(const Progress&)>& listen,
                    const std::function<void()>& idle);

}  // namespace imprint
