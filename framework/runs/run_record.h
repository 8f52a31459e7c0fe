#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "framework/runs/plan.h"

namespace imprint {

/// A job as a run folder remembers it.
struct RecordedJob {
  std::string address, kind, title;
  int64_t epochs = 0;                                      ///< of a training
  std::vector<std::string> after;                          ///< addresses
  std::vector<std::pair<std::string, std::string>> makes;  ///< kind, address
};

/// `plan.json` of a run folder: its jobs and where their results are, so that looking at a run
/// needs neither its data nor its plugins.
struct RunRecord {
  std::string name;
  std::string command;           ///< that started it last, for people
  std::filesystem::path folder;  ///< current folder of that command
  std::filesystem::path store;   ///< absolute
  std::vector<RecordedJob> jobs;

  /// Identifies the jobs: a worker elsewhere must have planned the same.
  std::string digest() const;
};

RunRecord run_record(const Plan& plan, const std::string& name, const std::string& command,
                     const std::filesystem::path& store);

/// Writes it into the run folder, and the run's place into the store's list of runs.
void write_run_record(const std::filesystem::path& run, const RunRecord& record);

/// Throws ConfigError for a folder that is no run's, or another version's.
RunRecord read_run_record(const std::filesystem::path& run);

/// Whether everything that a job makes is in the store.
bool is_stored(const RecordedJob& job, const Store& store);

/// The folders of all runs that use a store and are still there.
std::vector<std::filesystem::path> runs_of(const Store& store);

}  // namespace imprint
