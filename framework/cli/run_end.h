#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "framework/runs/crew.h"

namespace imprint {

/// Says what failed and how to go on. An exit code when the run ends here; nothing when results can
/// be assembled. `later` is what to say when this process leaves and others go on with the work.
std::optional<int> end_of_work(const Outcome& outcome, const Plan& plan,
                               const std::filesystem::path& folder, const std::string& command,
                               const std::string& later);

}  // namespace imprint
