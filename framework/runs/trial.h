#pragma once

#include <cstdint>

#include "framework/runs/plan.h"

namespace imprint {

/// What trainings of one kind cost on this machine: same model, batch, defenses and data. Seconds
/// are those of a core, or of a GPU, that does nothing else.
struct TrainingCost {
  double start = 0;      ///< seconds before the first step
  double step = 0;       ///< seconds of one step
  double epoch = 0;      ///< seconds of what defenses do after each epoch
  double query = 0;      ///< seconds of one record's answer
  uint64_t memory = 0;   ///< bytes beyond what processes share
  uint64_t weights = 0;  ///< bytes of the model
};

/// Does a few steps of a training in this process, for about `seconds`, and asks its model about
/// some records; `memory` is left to the caller. Throws whatever goes wrong.
TrainingCost try_training(const Plan& plan, const TrainJob& training, double seconds);

}  // namespace imprint
