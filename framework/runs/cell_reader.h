#pragma once

#include "framework/runs/experiment.h"
#include "framework/runs/sweep.h"

namespace imprint {

/// Reads the sections of one point of the sweep that are not defenses and attacks: data, model,
/// train, measures, shadows, device. Adds what it resolved to `defaults`.
void read_sections(const Value& root, Cell& cell, Defaults& defaults, Problems& problems);

}  // namespace imprint
