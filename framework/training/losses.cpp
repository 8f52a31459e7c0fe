#include "framework/training/losses.h"

namespace imprint {
namespace {

Tensor cross_entropy(const Tensor& logits, const Batch& batch) {
  const auto log_p = logits.log_softmax(1);
  if (batch.targets.defined()) return -(batch.targets * log_p).sum(1);
  return -log_p.gather(1, batch.y.unsqueeze(1)).squeeze(1);
}

// Mean of f over the label's distribution: t f(phi) + (1 - t) f(-phi).
template <class Function>
Tensor expected(const Tensor& phi, const Batch& batch, const Function& f) {
  const auto t =
      batch.targets.defined() ? batch.targets.select(1, 1) : batch.y.to(phi.scalar_type());
  if (!batch.targets.defined()) return f((2 * t - 1) * phi);
  return t * f(phi) + (1 - t) * f(-phi);
}

}  // namespace

std::vector<std::string> BaseLoss::names() {
  return {"cross_entropy", "mse", "logistic", "exponential", "margin"};
}

Tensor BaseLoss::operator()(const Tensor& logits, const Batch& batch, double sharpness) const {
  if (name_ == "cross_entropy") return cross_entropy(logits, batch);
  if (name_ == "mse") return (logits - batch.soft_targets(logits.size(1))).square().mean(1);
  const auto phi = logits.squeeze(1);
  if (name_ == "exponential")
    return expected(phi, batch, [](const Tensor& m) { return (-m).exp(); });
  if (name_ == "logistic")
    return expected(phi, batch, [](const Tensor& m) { return torch::softplus(-m); });
  TORCH_CHECK(!batch.targets.defined(),
              "the margin loss has hard labels only; no defense may soften them");
  return expected(phi, batch, [&](const Tensor& m) {
    const auto weights = (-sharpness * m.detach()).softmax(0);
    return -m * weights * static_cast<double>(m.size(0));
  });
}

}  // namespace imprint
