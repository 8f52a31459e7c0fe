#include "framework/data/places.h"

#include <cstdlib>

namespace imprint {

namespace fs = std::filesystem;

fs::path data_home() {
  if (const char* data = std::getenv("IMPRINT_DATA"); data != nullptr && *data != '\0') return data;
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    return fs::path(home) / ".cache/imprint/data";
  return {};
}

std::vector<fs::path> data_folders(const std::string& given, const std::string& name,
                                   const std::vector<fs::path>& more) {
  if (!given.empty()) return {given};
  std::vector<fs::path> folders;
  if (!data_home().empty()) folders.push_back(data_home() / name);
  folders.insert(folders.end(), more.begin(), more.end());
  return folders;
}

}  // namespace imprint
