#pragma once

#include <torch/optim/optimizer.h>

#include <memory>
#include <string>
#include <vector>

#include "framework/training/defense.h"

namespace imprint {

/// What a model answers about some records, and their labels.
struct LabelledLogits {
  Tensor logits, y;  ///< [n, classes], [n]

  LabelledLogits at(const Tensor& rows) const;
};

/// The attacker inside a min-max training: h(logits, label), the probability that a record is a
/// member. Logits and label, coded -1 and +1, each go through layers of their own (or none), then
/// together; all but the last are rectified.
class InnerAttacker {
 public:
  /// Keys: order (raw | sorted), attacker_logits ([1024, 512, 64]), attacker_label ([128, 64]),
  /// attacker_both ([256, 128, 64]), attacker_loss (cross_entropy | mse), attacker_optimizer (adam
  /// | sgd), attacker_lr (0.001, sgd 0.1).
  explicit InnerAttacker(Keys keys);

  /// Makes network and optimizer; nothing else works before.
  void start(const Step& step);
  bool started() const { return network_ != nullptr; }
  /// [n] probabilities h; gradients flow back to `logits` [n, classes].
  Tensor operator()(const Tensor& logits, const Tensor& y) const;
  /// One step of its own optimizer, on answers without gradients.
  void learn(const LabelledLogits& members, const LabelledLogits& others, const Step& step);
  void state(State& state);

 private:
  class Network;

  Tensor odds(const LabelledLogits& answers) const;  ///< [n] log of the odds of membership

  bool sorted_;
  std::vector<int64_t> logits_, label_, both_;  ///< widths
  bool mse_, sgd_;
  double lr_;
  std::shared_ptr<Network> network_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
};

}  // namespace imprint
