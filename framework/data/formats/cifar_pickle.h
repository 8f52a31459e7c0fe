#pragma once

#include <filesystem>
#include <string>

#include "framework/data/records.h"

namespace imprint {

/// Images and labels as a file of the Python version of CIFAR holds them: uint8 [n, 3072], and n
/// integers. Throws ConfigError naming the file and what is wrong with it.
struct PickledCifar {
  Tensor images, labels;
};
PickledCifar read_pickled_cifar(const std::filesystem::path& file, const std::string& label_key);

}  // namespace imprint
