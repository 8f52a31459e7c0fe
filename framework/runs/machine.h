#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace imprint {

/// The kind of CPU and of kernels: results are the same bits only within one.
std::string cpu_kind();

/// Versions, kernels, threads, CPU, commit: what a reader needs to repeat a run.
nlohmann::json environment();

}  // namespace imprint
