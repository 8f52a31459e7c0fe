#pragma once

#include <ATen/autocast_mode.h>
#include <torch/types.h>

namespace imprint {

/// Until it is destroyed, matrix products and convolutions compute in bfloat16; weights, sums and
/// losses stay as they are.
class Bfloat16Products {
 public:
  Bfloat16Products(bool on, const torch::Device& device) : device_(device.type()), on_(on) {
    if (!on_) return;
    at::autocast::increment_nesting();
    at::autocast::set_autocast_dtype(device_, torch::kBFloat16);
    at::autocast::set_autocast_enabled(device_, true);
  }
  ~Bfloat16Products() {
    if (!on_) return;
    at::autocast::set_autocast_enabled(device_, false);
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  }
  Bfloat16Products(const Bfloat16Products&) = delete;
  Bfloat16Products& operator=(const Bfloat16Products&) = delete;

 private:
  torch::DeviceType device_;
  bool on_;
};

}  // namespace imprint
