#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "framework/data/records.h"

namespace imprint {

/// Whether the file starts like one that PyTorch's `torch.save` wrote, today or long ago.
bool looks_like_torch_file(const std::filesystem::path& file);

/// The tensors of a file that `torch.save(model.state_dict(), file)` wrote in Python: of a dict of
/// tensors by name, or of the one under "state_dict" or "model" of a larger dict; other entries are
/// left out. As in Python, tensors may share memory and need not be contiguous.
///
/// Nothing in the file is executed. Throws ConfigError naming the file when it is damaged, or holds
/// anything but tensors and plain values.
std::map<std::string, Tensor> read_torch_file(const std::filesystem::path& file);

/// Writes what `torch.load(file, weights_only=True)` reads as an OrderedDict of contiguous tensors
/// on the CPU, in this order. The file appears whole; the same tensors give the same bytes. Throws
/// std::runtime_error when it cannot be written, when a name comes twice, or for an element type
/// that PyTorch has no storage of.
void write_torch_file(const std::filesystem::path& file,
                      const std::vector<std::pair<std::string, Tensor>>& tensors);

}  // namespace imprint
