#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "framework/data/records.h"

namespace imprint {

/// The arrays of a NumPy .npz file, compressed or not, by name; or only those in `only`, all of
/// which must be there. Element types are NumPy's, but unsigned integers of more than a byte, which
/// become int64; bytes of either order, elements of either order. Members that are no arrays are
/// left out. Throws ConfigError naming the file, and the array, when it is damaged or holds
/// anything but numbers and bools.
std::map<std::string, Tensor> read_npz(const std::filesystem::path& file,
                                       const std::vector<std::string>& only = {});

/// The array of a .npy file; or of its bytes, with what messages call them.
Tensor read_npy(const std::filesystem::path& file);
Tensor read_npy(std::string_view bytes, const std::string& source);

}  // namespace imprint
