#pragma once

#include <map>
#include <string>

#include "framework/runs/trial.h"

namespace imprint {

/// Which kind a training is of: those of one kind cost the same.
std::string cost_kind(const TrainJob& training);

/// Does a few steps of one training of each kind that is not stored, in `workers` processes at a
/// time, as a run would, each for about `seconds`, or less where there are many; trains nothing to
/// the end and stores nothing. Stops when this process is asked to leave.
/// Kinds that cannot be tried (a job would fail in the same way) are left out.
std::map<std::string, TrainingCost> probe(const Plan& plan, const Store* store, size_t workers,
                                          double seconds);

}  // namespace imprint
