#pragma once

#include <filesystem>

#include "framework/data/dataset.h"

namespace imprint {

/// Reads an IDX file (the format of MNIST), gzip-compressed or not: unsigned bytes of any shape.
/// Throws ConfigError naming the file and what is wrong with it.
Tensor read_idx(const std::filesystem::path& file);

/// Reads the four IDX files of the MNIST family from the first of `folders` that has them, each
/// with or without ".gz": images [n, 1, h, w], training part first. `how_to_get` ends the message
/// when no folder has them.
Dataset read_mnist_files(const std::vector<std::filesystem::path>& folders, int64_t classes,
                         const std::string& how_to_get);

/// Folders where a data set may lie: `given` alone if not empty, else data_home()/name
/// (framework/data/cache.h) and `more`.
std::vector<std::filesystem::path> data_folders(const std::string& given, const std::string& name,
                                                const std::vector<std::filesystem::path>& more);

}  // namespace imprint
