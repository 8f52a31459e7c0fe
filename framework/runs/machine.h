#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace imprint {

/// The kind of CPU and of kernels: results are the same bits only within one.
std::string cpu_kind();

/// Whether LibTorch sees a GPU. Found out by a child process: a process that has touched the GPU
/// cannot fork workers that use it.
bool sees_gpu();

/// Versions, kernels, threads, CPU, commit: what a reader needs to repeat a run.
nlohmann::json environment();

}  // namespace imprint
