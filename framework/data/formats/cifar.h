#pragma once

#include <filesystem>

#include "framework/data/dataset.h"

namespace imprint {

/// What the two CIFAR data sets (Krizhevsky 2009) differ in. Both are published in a binary version
/// (records of label bytes, then the 3 x 32 x 32 bytes of an image) and a Python version (pickled
/// dicts of NumPy arrays).
struct CifarFormat {
  std::string title;                         ///< "CIFAR-10"
  std::string component;                     ///< the name of its component, for `imprint data get`
  std::vector<std::string> files;            ///< training first; the binary version adds ".bin"
  std::string binary_folder, python_folder;  ///< in which its archives unpack
  int64_t classes = 0;
  int64_t label_bytes = 1;  ///< of a binary record, and which of them is the label
  int64_t label_byte = 0;
  std::string label_key;  ///< of the Python version
};

/// CIFAR-10, and CIFAR-100 with its hundred classes or twenty coarse ones.
CifarFormat cifar10_format();
CifarFormat cifar100_format(bool coarse);

/// The files of the first of `folders` that has them, itself or in the folders of the published
/// archives, as torchvision leaves them, too. Throws ConfigError saying where it looked.
std::vector<std::filesystem::path> cifar_files(const CifarFormat& format,
                                               const std::vector<std::filesystem::path>& folders);

/// The records of these files, of either version: images [n, 3, 32, 32], bytes. Files may hold any
/// number of records but none. Throws ConfigError naming the file and what is wrong with it.
Dataset read_cifar(const CifarFormat& format, const std::vector<std::filesystem::path>& files);

}  // namespace imprint
