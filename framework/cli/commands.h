#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace imprint {

/// What `imprint run` and `imprint check` were asked for.
struct RunOptions {
  std::string file;
  std::vector<std::string> overrides, plugins;
  size_t jobs = 0;  ///< 0: one per core
  std::filesystem::path out = "runs", store;
  bool quiet = false;
};

/// What the commands of `imprint data` were asked for.
struct DataOptions {
  std::string name;
  std::filesystem::path file, from;        ///< to export to; to get from
  std::vector<std::string> keys, plugins;  ///< keys of the data set, as key=value
};

// Each returns the program's exit code: 0 done, 1 a job failed, 2 bad input, 75 interrupted.
int run_command(const RunOptions& options);
int check_command(const RunOptions& options);
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
