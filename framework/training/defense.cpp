#include "framework/training/defense.h"

#include "framework/training/evaluation.h"

namespace imprint {

template <>
DefenseRegistry& DefenseRegistry::instance() {
  static DefenseRegistry registry;
  return registry;
}

const std::vector<std::string>& training_hooks() {
  static const std::vector<std::string> hooks{"first", "data",   "shape", "start",
                                              "batch", "logits", "loss",  "gradient",
                                              "epoch", "stop",   "state"};
  return hooks;
}

Tensor Batch::soft_targets(int64_t classes) const {
  if (targets.defined()) return targets;
  return torch::one_hot(y, classes).to(x.scalar_type());
}

Tensor Trained::logits(const Records& x) const {
  return queried_logits(*model, {}, x, type, device);
}

}  // namespace imprint
