#pragma once

#include <string>
#include <utility>
#include <vector>

#include "framework/config/value.h"
#include "framework/reports/results.h"

namespace imprint {

/// Which cells are meant, as in `cell: {defense: ccl, alpha: 0.5}`; without keys, all. A key is
/// `defense` (registered name or label), `label`, `data`, `model`, `seed`, `chosen` (on the tune
/// piece), or a swept path or its end: "ccl.alpha" or "alpha". Values are compared as numbers where
/// both sides read as numbers, else as text.
struct Selector {
  std::vector<std::pair<std::string, std::string>> keys;

  bool matches(const CellResult& cell) const;
  /// Whether one of the keys stands for this swept path, or for `data` or `model`.
  bool names(const std::string& path) const;
  /// "{defense: ccl, alpha: 0.5}".
  std::string text() const;
};

/// Whether `key` is this path or its last words.
bool stands_for(const std::string& key, const std::string& path);

/// Reads the selector that a map spells; values that no cell can have are problems.
Selector read_selector(const Value& map, Problems& problems);

}  // namespace imprint
