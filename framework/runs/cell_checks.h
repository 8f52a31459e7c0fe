#pragma once

#include "framework/runs/experiment.h"

namespace imprint {

// What the parts of one cell demand of each other; each adds a problem where it is not met.

/// What defenses demand of data and training, and of each other.
void check_chain(const Cell& cell, const Chain& chain, Problems& problems);

/// What attacks demand of data and shadows; `mark` is where shadows are asked for.
void check_attacks(const Cell& cell, const Chain& chain, const Mark& mark, Problems& problems);

/// That there is a tune piece to choose on.
void check_tune(const Cell& cell, const Mark& mark, Problems& problems);

}  // namespace imprint
