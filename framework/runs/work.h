#pragma once

#include <functional>

#include "framework/runs/plan.h"

namespace imprint {

/// Does one job and puts its result into the store. `on_epoch` hears of every recorded epoch of a
/// training. Throws whatever goes wrong; nothing half-done remains.
void do_job(const Plan& plan, const Job& job, const Store& store,
            const std::function<void(const EpochRow&)>& on_epoch);

/// One line of a training's history as JSON, and back.
nlohmann::json to_json(const EpochRow& row);
EpochRow epoch_row_from(const nlohmann::json& json);

/// The metrics of an attack or a measure as JSON, and back.
nlohmann::json to_json(const std::vector<Metric>& metrics);
std::vector<Metric> metrics_from(const nlohmann::json& json);

}  // namespace imprint
