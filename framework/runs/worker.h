#pragma once

#include <filesystem>

#include "framework/runs/work.h"

namespace imprint {

/// Takes jobs of a plan, one after the other, until none is left that could be done. Leaves those
/// that another worker holds, and those that need a failed one. Writes what it does to
/// `<folder>/<number>.jsonl`, and the message of each failed job to `<folder>/failed/<address>`.
void work_through(const Plan& plan, const Store& store, const std::filesystem::path& folder,
                  size_t number);

}  // namespace imprint
