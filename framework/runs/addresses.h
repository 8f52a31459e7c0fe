#pragma once

#include <string>

#include "framework/runs/recipe.h"
#include "framework/training/chain.h"

namespace imprint {

/// What a chain contributes to a job: names, keys and sources. Without late keys, only defenses
/// that take part in training count.
void add_chain(Recipe& recipe, const Chain& chain, bool with_late);

/// The code that every training depends on, LibTorch's version included.
void add_training_code(Recipe& recipe);

/// The code of everything that comes after training.
void add_privacy_code(Recipe& recipe);

/// Address of the weights of a training at an epoch.
std::string snapshot_address(const std::string& train, int64_t epoch);

}  // namespace imprint
