#pragma once

#include "framework/runs/experiment.h"

namespace imprint {

/// Reads the sections of one point of the sweep that are not defenses and attacks: data, model,
/// train, measures, shadows, device. Writes every default into `resolved`, unless it is null.
void read_sections(const Value& root, Cell& cell, Value* resolved, Problems& problems);

}  // namespace imprint
