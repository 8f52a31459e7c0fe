#pragma once

#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace imprint {

/// The rows of a CSV file without quotes, column -> field.
inline std::vector<std::map<std::string, std::string>> csv_rows(const std::filesystem::path& file) {
  const auto fields = [](const std::string& line) {
    std::vector<std::string> all(1);
    for (const char c : line) {
      if (c == ',')
        all.emplace_back();
      else
        all.back() += c;
    }
    return all;
  };
  std::istringstream stream(file_text(file));
  std::string line;
  std::getline(stream, line);
  const auto names = fields(line);
  std::vector<std::map<std::string, std::string>> rows;
  while (std::getline(stream, line)) {
    const auto values = fields(line);
    rows.emplace_back();
    for (size_t i = 0; i < names.size(); ++i) rows.back()[names[i]] = values.at(i);
  }
  return rows;
}

}  // namespace imprint
