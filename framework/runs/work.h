#pragma once

#include <functional>

#include "framework/runs/plan.h"

namespace imprint {

/// Does one job and puts its result into the store. `on_epoch` hears of every recorded epoch of a
/// training. Throws whatever goes wrong; nothing half-done remains.
void do_job(const Plan& plan, const Job& job, const Store& store,
            const std::function<void(const EpochRow&)>& on_epoch);

/// The model of a training that is in the store, as it is released.
std::shared_ptr<Model> released_model(const Plan& plan, const Release& release, const Store& store);

/// Throws ConfigError when the weights given for a target do not fit its model.
void check_weights(const TrainJob& training);

}  // namespace imprint
