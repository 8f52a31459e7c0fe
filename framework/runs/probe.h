#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "framework/runs/plan.h"

namespace imprint {

/// What trainings of one kind cost on this machine: same model, batch, defenses and data.
struct TrainingCost {
  double start = 0;      ///< seconds before the first step
  double step = 0;       ///< seconds of one step
  double epoch = 0;      ///< seconds of what defenses do after each epoch
  double query = 0;      ///< seconds of one record's answer
  uint64_t memory = 0;   ///< bytes beyond what processes share
  uint64_t weights = 0;  ///< bytes of the model
};

/// Which kind a training is of.
std::string cost_kind(const TrainJob& training);

/// Does a few steps of one training of each kind that is not stored, in `workers` processes at a
/// time, as a run would, each for about `seconds`; trains nothing to the end and stores nothing.
/// Kinds that cannot be tried (a job would fail in the same way) are left out.
std::map<std::string, TrainingCost> probe(const Plan& plan, const Store* store, size_t workers,
                                          double seconds);

}  // namespace imprint
