#pragma once

#include <filesystem>

#include "framework/data/origin.h"

namespace imprint {

/// Gets a package with the distribution's or npm's own client, which knows the user's settings and
/// checks what it gets, and unpacks it below `work`, an empty folder. Installs nothing, needs no
/// root. Returns the folder of its contents. Throws PlaceError.
std::filesystem::path unpacked_package(const Origin::Mirror& mirror,
                                       const std::filesystem::path& work);

/// Most bytes that an archive may unpack to.
inline constexpr int64_t most_unpacked_bytes = int64_t{1} << 32;

}  // namespace imprint
