#include "framework/data/formats/weights.h"

#include <fmt/format.h>

#include "framework/config/problems.h"
#include "framework/data/formats/safetensors.h"
#include "framework/data/formats/torch_file.h"

namespace imprint {

std::map<std::string, Tensor> load_weights(const std::filesystem::path& file) {
  return looks_like_torch_file(file) ? read_torch_file(file) : load_tensors(file);
}

void save_weights(const std::filesystem::path& file,
                  const std::vector<std::pair<std::string, Tensor>>& tensors) {
  const auto extension = file.extension();
  if (extension == ".pt" || extension == ".pth") return write_torch_file(file, tensors);
  if (extension != ".safetensors")
    throw ConfigError(fmt::format(
        "{}: weights are written as .pt or .pth (PyTorch) or .safetensors", file.string()));
  std::map<std::string, Tensor> by_name;
  for (const auto& [name, tensor] : tensors)
    if (!by_name.emplace(name, tensor).second)
      throw std::runtime_error(fmt::format("tensor '{}' comes twice", name));
  save_tensors(file, by_name);
}

}  // namespace imprint
