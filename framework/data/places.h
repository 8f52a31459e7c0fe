#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace imprint {

/// Where data live: $IMPRINT_DATA, else ~/.cache/imprint/data; empty when there is neither.
std::filesystem::path data_home();

/// Folders where a data set may lie: `given` alone if not empty, else data_home()/name and `more`.
std::vector<std::filesystem::path> data_folders(const std::string& given, const std::string& name,
                                                const std::vector<std::filesystem::path>& more);

}  // namespace imprint
