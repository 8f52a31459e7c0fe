#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace imprint {

/// The kind of CPU and of kernels: results are the same bits only within one.
std::string cpu_kind();

/// Bytes of memory that could be had now without swapping: the machine's, or what a control group
/// leaves of it.
uint64_t available_memory();

/// Bytes of memory that a process holds and does not share with a file; its largest so far.
uint64_t peak_memory();

/// Lets this process open as many files as it may; the usual limit is a thousand.
void allow_many_files();

/// Whether LibTorch sees a GPU. Found out by a child process: a process that has touched the GPU
/// cannot fork workers that use it.
bool sees_gpu();

/// Versions, kernels, threads, CPU, commit: what a reader needs to repeat a run.
nlohmann::json environment();

}  // namespace imprint
