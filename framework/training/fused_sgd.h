#pragma once

#include <torch/optim/sgd.h>

namespace imprint {

/// LibTorch's SGD with its step done by one fused kernel: weight decay, momentum and update in a
/// single pass over memory instead of four.
class FusedSgd final : public torch::optim::SGD {
 public:
  using SGD::SGD;
  torch::Tensor step(LossClosure closure = nullptr) override;
};

}  // namespace imprint
