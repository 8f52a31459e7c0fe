#pragma once

#include <functional>

#include "framework/runs/plan.h"

namespace imprint {

/// Does one job and puts its result into the store. `on_epoch` hears of every recorded epoch of a
/// training. Throws whatever goes wrong; nothing half-done remains.
void do_job(const Plan& plan, const Job& job, const Store& store,
            const std::function<void(const EpochRow&)>& on_epoch);

}  // namespace imprint
