#pragma once

#include <vector>

#include "framework/config/keys.h"
#include "framework/data/stream.h"
#include "framework/training/state.h"

namespace imprint {

/// A small fully connected network that learns to tell members from others by their features: relu
/// layers, two outputs, cross-entropy, Adam. Its gradients are written out, as an attack spends its
/// time in tens of thousands of tiny steps, where autograd costs more than the arithmetic.
class MembershipNet {
 public:
  /// Keys: hidden ([64, 32]), epochs, lr (1e-3), batch (128).
  MembershipNet(Keys keys, int64_t epochs);

  /// Learns from features [n, d] of records whose membership (bool [n]) is known. Afresh each time.
  void learn(const Tensor& features, const Tensor& member, const Stream& stream);
  /// [n] log of the odds that it gives to membership, double.
  Tensor log_odds(const Tensor& features) const;

 private:
  struct Layer {
    Tensor weight, bias;            ///< [inputs, outputs], [outputs]: parts of `parameters_`
    Tensor weight_grad, bias_grad;  ///< parts of `gradients_`
  };

  void build(int64_t inputs, const Stream& stream);
  std::vector<Tensor> forward(const Tensor& x) const;
  void backward(const std::vector<Tensor>& values, Tensor slope);
  void step();

  std::vector<int64_t> hidden_;
  int64_t epochs_, batch_;
  double lr_;
  std::vector<Layer> layers_;
  Tensor parameters_, gradients_, first_, second_;  ///< flat; the moments are Adam's
  int64_t steps_ = 0;
};

}  // namespace imprint
