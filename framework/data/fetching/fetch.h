#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "framework/data/origin.h"

namespace imprint {

/// What to fetch, where to, and whom to tell.
struct Errand {
  std::string name;  ///< of the data set
  Origin origin;
  std::filesystem::path folder;  ///< where the files go; made if it is not there
  std::filesystem::path from;    ///< take them from this folder alone; empty: from anywhere
  /// Throws ConfigError, saying what is missing or wrong, until `folder` has all that the reader
  /// needs.
  std::function<void()> complete;
  std::function<void(const std::string& line)> say = {};
  std::function<void(const std::string& file, int64_t done, int64_t whole)> on_transfer = {};
};

/// Fetches: from the publisher, else from another site, else from a package. Files appear in the
/// folder under their names only when they are whole and have their digests. Returns the place that
/// gave them. Throws ConfigError: with each place and its reason when none did, or with what keeps
/// the folder from being written.
std::string fetch(const Errand& errand);

}  // namespace imprint
