#pragma once

#include <torch/types.h>

#include <string>

namespace imprint {

using torch::Tensor;

/// What an attacker does to an image before asking about it: mirror it, turn it about its centre,
/// move it, in this order. Nearest neighbour, same size; what comes from outside is 0.
struct Transform {
  double degrees = 0;           ///< counter-clockwise
  int64_t right = 0, down = 0;  ///< pixels that the contents move by
  bool flip = false;            ///< left to right

  bool identity() const { return degrees == 0 && right == 0 && down == 0 && !flip; }
  /// "none", "flip", "rotate 4", "shift 1 -2", or several of these.
  std::string name() const;
  /// Images [n, channels, height, width] of any type, or whatever they are for the identity.
  Tensor operator()(const Tensor& images) const;

  bool operator==(const Transform&) const = default;
};

}  // namespace imprint
