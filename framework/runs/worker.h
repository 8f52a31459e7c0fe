#pragma once

#include <filesystem>

#include "framework/runs/work.h"

namespace imprint {

/// Exit codes of a worker process.
constexpr int worker_done = 0, worker_stuck = 74, worker_left = 75;

/// How a worker is told to work.
struct WorkerTask {
  std::filesystem::path folder;  ///< of progress files
  size_t number = 0;             ///< among the workers of the run
  std::string death = {};        ///< how the worker before it with this number ended; empty: well
  size_t most_deaths = 2;        ///< a job that ends so many workers and gets no further has failed
};

/// Leaves word in a folder of progress files why no worker can go on; and that word, if there is
/// one.
void tell_stuck(const std::filesystem::path& folder, const std::string& why);
std::string told_stuck(const std::filesystem::path& folder);

/// Takes jobs of a plan, one after the other, until none is left that could be done, or until this
/// process is asked to leave. Leaves those that another worker holds, and those that need a failed
/// one. Writes what it does to `<folder>/<number>.jsonl`, and the message and the configuration of
/// each failed job to `<folder>/failed/<address>`. Returns the exit code. Throws StorageError when
/// nothing can be written any more.
int work_through(const Plan& plan, const Store& store, const WorkerTask& task);

}  // namespace imprint
