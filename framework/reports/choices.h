#pragma once

#include <optional>

#include "framework/reports/results.h"
#include "framework/runs/experiment.h"

namespace imprint {

/// Chooses one setting of every label (of the same data, model and swept keys outside the defense)
/// by its mean over seeds on the tune piece, and marks its cells. A label with a single setting is
/// marked, too, but is no choice to report. With `keep_accuracy` a defended setting that is less
/// accurate there than the undefended model is out, also if it is the only one; a label of which
/// none is left has no marked cell, and a note says so. Nothing without `how`.
void choose(const std::optional<TuneChoice>& how, Results& results);

}  // namespace imprint
