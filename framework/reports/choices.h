#pragma once

#include <optional>
#include <vector>

#include "framework/reports/results.h"
#include "framework/runs/experiment.h"

namespace imprint {

/// Chooses one setting of every label (of the same data, model and swept keys outside the defense)
/// by its mean over seeds on the tune piece, and marks its cells. Labels with a single setting are
/// marked without a choice. Nothing without `how`.
std::vector<Chosen> choose(const std::optional<TuneChoice>& how, std::vector<CellResult>& cells);

}  // namespace imprint
