#pragma once

#include <functional>

#include "framework/runs/plan.h"

namespace imprint {

/// What a job tells while it goes on.
struct JobEvents {
  std::function<void(const EpochRow&)> epoch;    ///< every recorded epoch of a training
  std::function<void(const std::string&)> note;  ///< a damaged checkpoint that was set aside
};

/// Does one job and puts its result into the store. Throws whatever goes wrong; nothing half-done
/// remains. Throws Interrupted from within a training when this process was asked to leave: then
/// its checkpoint is in the store. Throws DamagedEntry when what it needs cannot be trusted.
void do_job(const Plan& plan, const Job& job, const Store& store, const JobEvents& events);

}  // namespace imprint
