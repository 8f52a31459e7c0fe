#include "framework/training/losses.h"

namespace imprint {
namespace {

Tensor cross_entropy(const Tensor& logits, const Batch& batch) {
  const auto log_p = logits.log_softmax(1);
  if (batch.targets.defined()) return -(batch.targets * log_p).sum(1);
  return -log_p.gather(1, batch.y.unsqueeze(1)).squeeze(1);
}

// y phi with y = -1, +1; soft targets give the mean label.
Tensor margins(const Tensor& logits, const Batch& batch) {
  const auto label =
      batch.targets.defined() ? batch.targets.select(1, 1) : batch.y.to(logits.scalar_type());
  return (2 * label - 1) * logits.squeeze(1);
}

}  // namespace

std::vector<std::string> BaseLoss::names() {
  return {"cross_entropy", "mse", "logistic", "exponential", "margin"};
}

Tensor BaseLoss::operator()(const Tensor& logits, const Batch& batch, double sharpness) const {
  if (name_ == "cross_entropy") return cross_entropy(logits, batch);
  if (name_ == "mse") return (logits - batch.soft_targets(logits.size(1))).square().mean(1);
  const auto m = margins(logits, batch);
  if (name_ == "exponential") return (-m).exp();
  if (name_ == "logistic") return torch::softplus(-m);
  const auto weights = (-sharpness * m.detach()).softmax(0);
  return -m * weights * static_cast<double>(m.size(0));
}

}  // namespace imprint
