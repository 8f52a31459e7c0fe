#pragma once

#include "framework/cli/commands.h"
#include "framework/reports/expect.h"
#include "framework/reports/results.h"
#include "framework/runs/plan.h"

namespace imprint {

/// An experiment with everything in it checked that can be checked before the first training.
struct Ready {
  Experiment experiment;
  std::vector<Claim> claims;
  Plan plan;
};

/// Reads the experiment file and plans. Throws ConfigError with all problems.
Ready prepare(const RunOptions& options);

/// File of a run folder that says how far an audit in stages has come.
constexpr auto stages_file = "stages.json";

/// Writes the tables and the report into a run folder.
void write_tables(const std::filesystem::path& folder, const Results& results);

/// Adds a note where set-up has not left what figures are drawn with.
void note_missing_figures(Results& results);

/// Writes everything of a run folder that results are made into.
void write_results(const std::filesystem::path& folder, const Ready& ready, const Results& results,
                   const Store& store);

/// Where reusable results lie: as asked for, else $IMPRINT_STORE, else `store`.
std::filesystem::path store_folder(const std::filesystem::path& asked);

/// How many of a plan's jobs are not stored.
struct Remaining {
  size_t trainings = 0, jobs = 0;
};
Remaining remaining(const Plan& plan, const Store& store);

/// Workers on this machine: as many as asked for, else one per core, but no more than jobs.
size_t local_workers(const RunOptions& options, size_t jobs);

/// How many of `workers` fit into memory (`--memory`, else what is free), at least one, and the
/// bytes that should stay free.
struct Room {
  size_t workers = 1;
  uint64_t memory = 0, spare = 0;
};
Room room_for_workers(size_t workers, uint64_t each, const std::string& asked);

/// Bytes of "512M" or "4G", seconds of "90s", "30m" or "2h"; throws ConfigError.
uint64_t bytes_of(const std::string& text);
double seconds_of(const std::string& text);

}  // namespace imprint
