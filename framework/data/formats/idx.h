#pragma once

#include <filesystem>

#include "framework/data/dataset.h"
#include "framework/data/places.h"

namespace imprint {

/// Reads an IDX file (the format of MNIST), gzip-compressed or not: unsigned bytes of any shape.
/// Throws ConfigError naming the file and what is wrong with it.
Tensor read_idx(const std::filesystem::path& file);

/// The four IDX files of the MNIST family in the first of `folders` that has them all, each with or
/// without ".gz": training images and labels, test images and labels. Throws ConfigError that says
/// where it looked and ends with `how_to_get`.
std::vector<std::filesystem::path> find_mnist_files(
    const std::vector<std::filesystem::path>& folders, const std::string& how_to_get);

/// Reads what find_mnist_files found: images [n, 1, h, w], training part first.
Dataset read_mnist_files(const std::vector<std::filesystem::path>& files, int64_t classes);

}  // namespace imprint
