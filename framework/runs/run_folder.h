#pragma once

#include <filesystem>
#include <string>

#include "framework/config/value.h"
#include "framework/runs/lock.h"

namespace imprint {

/// A run's folder, locked while it is written.
struct RunFolder {
  std::filesystem::path path;
  FileLock lock;
};

/// The folder of a run, `<out>/<name>/<date>-<hash of the resolved experiment>`: the newest
/// unfinished one of the same experiment that nobody is writing, or a new one. `<out>/latest` links
/// to it afterwards. Throws ConfigError when it cannot be made.
RunFolder open_run_folder(const std::filesystem::path& out, const std::string& name,
                          const Value& resolved);

/// Marks a run as complete, so that the same command starts a new one.
void finish_run_folder(const std::filesystem::path& folder);
bool is_finished(const std::filesystem::path& folder);

/// Whether an `imprint run` on this machine is writing the folder.
bool is_open_elsewhere(const std::filesystem::path& folder);

}  // namespace imprint
