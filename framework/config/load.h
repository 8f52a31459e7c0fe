#pragma once

#include <string>
#include <vector>

#include "framework/config/value.h"

namespace imprint {

/// Reads an experiment file with its base files underneath and `key=value` overrides on top.
/// `base` is relative to the file that names it. A value with commas outside brackets and quotes
/// is a sweep: `defenses[1].alpha=0.2,0.4`. Throws ConfigError.
Value load_experiment_file(const std::string& file, const std::vector<std::string>& overrides);

}  // namespace imprint
