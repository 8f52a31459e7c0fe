#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "framework/runs/crew.h"

namespace imprint {

/// What `imprint run --launcher slurm` was asked for.
struct SlurmOptions {
  size_t workers = 4;
  std::vector<std::string> keys;  ///< of sbatch: "time=1:00:00", "exclusive"
  std::filesystem::path program;  ///< this program, as the nodes see it
};

/// A word as a shell, or sbatch in a script, takes it.
std::string shell_quoted(const std::string& word);

/// The job script of a run: an array of workers that save before their time is over, and that go on
/// when they were preempted or killed. Throws ConfigError for keys that are the launcher's own.
std::string slurm_script(const std::filesystem::path& run, const SlurmOptions& options);

/// Number of the array that works on a run; empty when none does.
std::string slurm_array_at_work(const std::filesystem::path& run);

/// Writes the script into the run folder and submits it; returns the array's number. Throws
/// ConfigError with what Slurm said.
std::string submit_slurm(const std::filesystem::path& run, const SlurmOptions& options);

/// The tasks of an array. `complete` says whether everything is done: then what still waits is
/// cancelled. An array that ended too early is submitted again, three times at most. Dismissed, it
/// goes on without being watched.
std::unique_ptr<Crew> follow_slurm(const std::filesystem::path& run, const SlurmOptions& options,
                                   std::string array, std::function<bool()> complete);

}  // namespace imprint
