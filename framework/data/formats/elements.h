#pragma once

#include <optional>

#include "framework/data/records.h"

namespace imprint {

/// How many elements a shape from a file has; nothing if it is none (negative, more dimensions or
/// elements than any file has), so that it is safe to allocate by.
std::optional<uint64_t> element_count(const std::vector<int64_t>& shape);

/// Makes values, read from a file as they are, values of this machine: turns the bytes of
/// big-endian elements round, and sets every bool that is not 0 to 1, as C++ insists.
void settle_elements(Tensor& values, bool big_endian);

}  // namespace imprint
