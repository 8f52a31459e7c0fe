#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "framework/training/trainer.h"

namespace imprint {

/// One line of a training's history as JSON, and back.
nlohmann::json to_json(const EpochRow& row);
EpochRow epoch_row_from(const nlohmann::json& json);

/// A whole history, one line per row, and back.
std::string history_text(const std::vector<EpochRow>& rows);
std::vector<EpochRow> history_from(const std::string& text);

/// The metrics of an attack or a measure as JSON, and back.
nlohmann::json to_json(const std::vector<Metric>& metrics);
std::vector<Metric> metrics_from(const nlohmann::json& json);

}  // namespace imprint
