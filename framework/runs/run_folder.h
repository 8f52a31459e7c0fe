#pragma once

#include <filesystem>
#include <string>

#include "framework/config/value.h"

namespace imprint {

/// The folder of a run, `<out>/<name>/<date>-<hash of the resolved experiment>`: the newest
/// unfinished one of the same experiment, or a new one. `<out>/latest` links to it afterwards.
/// Throws ConfigError when it cannot be made.
std::filesystem::path open_run_folder(const std::filesystem::path& out, const std::string& name,
                                      const Value& resolved);

/// Marks a run as complete, so that the same command starts a new one.
void finish_run_folder(const std::filesystem::path& folder);

}  // namespace imprint
