#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace imprint {

/// What `imprint run` and `imprint check` were asked for.
struct RunOptions {
  std::string file;
  std::vector<std::string> overrides, plugins;
  size_t jobs = 0;                 ///< 0: one per core
  std::string memory;              ///< that workers may use, such as 4G; empty: what is free
  std::string time;                ///< limit, such as 90m; empty: none
  std::string launcher;            ///< local, slurm; empty: local, or whoever is at work on the run
  size_t workers = 4;              ///< of slurm
  std::vector<std::string> slurm;  ///< key=value of sbatch
  bool wait = true;
  std::filesystem::path out = "runs", store;
  bool quiet = false;
  std::string command;  ///< as it was typed, to tell how to go on
};

/// What the commands that look at a run or at the store were asked for.
struct LookOptions {
  std::filesystem::path run = "runs/latest", store;
  std::string job;
  bool all = false;     ///< list every job
  bool remove = false;  ///< gc: not only say what could go
  size_t number = 0;    ///< of a worker
};

/// What the commands of `imprint data` were asked for.
struct DataOptions {
  std::string name;
  std::filesystem::path file, from;        ///< to export to; to get from
  std::vector<std::string> keys, plugins;  ///< keys of the data set, as key=value
};

/// What `imprint score` was asked for.
struct ScoreOptions {
  std::filesystem::path file, shadow, out = "runs";
  double delta = 1e-5;
  std::vector<std::string> plugins;
};

// Each returns the program's exit code: 0 done, 1 a job failed, 2 bad input, 75 interrupted.
int run_command(const RunOptions& options);
int check_command(const RunOptions& options);
int work_command(const LookOptions& options);
int status_command(const LookOptions& options);
int why_command(const LookOptions& options);
int gc_command(const LookOptions& options);
int score_command(const ScoreOptions& options);
int export_command(RunOptions options, const std::string& cell, const std::string& weights);
int list_command(const std::string& kind, const std::vector<std::string>& plugins);
int explain_command(const std::string& name, const std::vector<std::string>& plugins);
int new_command(const std::string& kind, const std::string& name);
int doctor_command();
int data_list_command(const DataOptions& options);
int data_get_command(const DataOptions& options);
int data_check_command(const DataOptions& options);
int data_export_command(const DataOptions& options);

/// A file that set-up leaves in the share folder; empty if it is not there.
std::string read_share(const std::string& file);

}  // namespace imprint
