#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "framework/data/records.h"

namespace imprint {

/// PyTorch's storage class of an element type: "torch.FloatStorage"; nothing for types that
/// weights do not have.
std::optional<std::string> torch_storage_name(torch::ScalarType type);
std::optional<torch::ScalarType> torch_storage_type(std::string_view name);

}  // namespace imprint
