#pragma once

#include <string>

#include "framework/training/chain.h"

namespace imprint {

/// What a chain contributes to an address: names, keys and sources. Without late keys, only
/// defenses that take part in training count.
std::string chain_address(const Chain& chain, bool with_late);

/// Digest of the code that every training depends on, LibTorch's version included.
std::string training_code();

/// The same for everything that comes after training.
std::string privacy_code();

/// Address of the weights of a training at an epoch.
std::string snapshot_address(const std::string& train, int64_t epoch);

}  // namespace imprint
