#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "framework/data/dataset.h"

namespace imprint {

/// Writes named tensors in the safetensors format: a JSON header padded so that data start at a
/// 64-byte boundary, then the tensors' bytes. The file appears whole and on disk. Throws
/// std::runtime_error with the reason.
void save_tensors(const std::filesystem::path& file, const std::map<std::string, Tensor>& tensors);

/// Reads such a file; tensors own their memory. Throws ConfigError naming the file when it is
/// missing, truncated, damaged or no such file, before it allocates more than the file holds.
std::map<std::string, Tensor> load_tensors(const std::filesystem::path& file);

/// The same, memory-mapped where a tensor starts at a multiple of 64 bytes (as the kernels'
/// results depend on it); the others are copied. The mapping lives as long as a tensor does, and
/// nothing may be written into it.
std::map<std::string, Tensor> map_tensors(const std::filesystem::path& file);

}  // namespace imprint
