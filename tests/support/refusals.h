#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "framework/config/problems.h"

namespace imprint {

/// What a call refuses with (ConfigError alone), without the name of `folder` if it is not empty;
/// "(accepted)" if it does not.
template <typename Call>
std::string refusal(const std::filesystem::path& folder, const Call& call) {
  try {
    call();
  } catch (const ConfigError& error) {
    std::string text = error.what();
    if (folder.empty()) return text;
    const auto prefix = folder.string() + "/";
    for (size_t at = 0; (at = text.find(prefix)) != std::string::npos;)
      text.erase(at, prefix.size());
    return text;
  }
  return "(accepted)";
}

/// Removes it first: file systems are slow to replace the contents of a file.
inline void put_file(const std::filesystem::path& file, const std::string& bytes) {
  std::filesystem::remove(file);
  std::ofstream(file, std::ios::binary) << bytes;
}

}  // namespace imprint
