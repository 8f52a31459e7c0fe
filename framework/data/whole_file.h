#pragma once

#include <filesystem>
#include <string_view>

namespace imprint {

/// Writes a file that is there wholly or not at all, whatever happens meanwhile; replaces one of
/// the same name. Throws std::runtime_error saying why it cannot be written.
void write_whole(const std::filesystem::path& file, std::string_view bytes);

}  // namespace imprint
