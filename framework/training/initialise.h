#pragma once

#include <memory>
#include <string>
#include <vector>

#include "framework/training/layers.h"

namespace imprint {

/// `model`'s convolutions anew as N(0, 2 / fan), fan = outputs * size^2 (or inputs * size^2), and
/// their biases 0, as ResNet, VGG and their kin are initialised.
void initialise_convolutions(torch::nn::Module& model, bool fan_out = true);

/// How fully connected layers start: the keys `init` and `scale` of a model.
class Initialisation {
 public:
  explicit Initialisation(Keys& keys);
  /// `layers`, in order from the input, as Linear made them.
  void operator()(const std::vector<std::shared_ptr<Linear>>& layers) const;

 private:
  std::string kind_;
  double scale_;
};

}  // namespace imprint
