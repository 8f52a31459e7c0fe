#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "framework/data/dataset.h"

namespace imprint {

/// Digest of a file of the kind that `like` is: "sha256:..." or "md5:...". `unzipped`: of what gzip
/// compressed. Throws ConfigError naming the file if it cannot be read or its gzip stream is
/// damaged.
std::string file_digest(const std::filesystem::path& file, const std::string& like, bool unzipped);

/// What a file should be and what it is. Without a known digest both are empty.
struct FileCheck {
  std::filesystem::path file;
  std::string expected, found;

  bool known() const { return !expected.empty(); }
  bool right() const { return found == expected; }
  /// "expected md5:..., found md5:...".
  std::string words() const;
};

/// Whether a file of this name belongs to the data set.
bool is_listed(const Origin& origin, const std::filesystem::path& file);

/// Compares a file with what the publisher's is, decompressed where it is the .gz of it.
FileCheck check_file(const Origin& origin, const std::filesystem::path& file);

/// What is counted in a data set.
struct Census {
  std::vector<int64_t> per_class;
  double lowest = 0, highest = 0;    ///< of the finite values
  int64_t not_finite = 0;            ///< values that are NaN or infinite
  int64_t repeated_in_training = 0;  ///< records that occur more than once there
  int64_t repeated_in_test = 0;
  int64_t test_in_training = 0;  ///< records of the test part that occur in the training part, too
  int64_t contradicting = 0;     ///< records that occur with another label, too
};

/// Counts; the first `training` records are the training part (0: all are). Records are the same
/// when all their values are, whatever their labels.
Census take_census(const Dataset& data, int64_t training);

}  // namespace imprint
