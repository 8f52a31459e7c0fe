#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "framework/training/trainer.h"

namespace imprint {

/// The clock that progress is told by.
double seconds_since_1970();

/// What a worker reports.
struct Progress {
  enum class Kind { started, epoch, done, failed, left, note };
  Kind kind;
  size_t worker = 0;
  std::string address;
  EpochRow row = {};         ///< of an epoch
  std::string message = {};  ///< of a failure or a note
  double seconds = 0;        ///< that a finished job took
  double time = 0;           ///< when, in seconds since 1970
};

/// A worker's own file `<folder>/<number>.jsonl`: one line per event, appended with one write, so
/// that readers on any machine see whole lines. Losing a line loses no result.
class ProgressFile {
 public:
  ProgressFile(const std::filesystem::path& folder, size_t worker);
  void put(const Progress& progress);

 private:
  std::ofstream stream_;
};

/// Follows the files of all workers as they grow.
class Follower {
 public:
  explicit Follower(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Tells what was written since the last call.
  void poll(const std::function<void(const Progress&)>& listen);

 private:
  std::filesystem::path folder_;
  std::map<std::filesystem::path, std::streamoff> at_;
};

}  // namespace imprint
