#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "framework/data/records.h"

namespace imprint {

/// Named tensors from a file of PyTorch (`torch.save(model.state_dict(), file)`) or safetensors,
/// whatever its name is; see read_torch_file and load_tensors. Throws ConfigError naming the file
/// when it is neither, or damaged.
std::map<std::string, Tensor> load_weights(const std::filesystem::path& file);

/// Writes named tensors: PyTorch for .pt and .pth, safetensors for .safetensors, else ConfigError.
/// The file appears whole. Throws std::runtime_error when it cannot be written or a name comes
/// twice.
void save_weights(const std::filesystem::path& file,
                  const std::vector<std::pair<std::string, Tensor>>& tensors);

}  // namespace imprint
