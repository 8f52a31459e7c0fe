#include <torch/csrc/autograd/autograd.h>

#include "framework/privacy/attack.h"
#include "framework/training/losses.h"

namespace imprint::gradient_norm {
namespace {

constexpr int64_t batch = 256;

/// Scores a record by minus the norm of the gradient of its loss: with respect to the record or to
/// all weights of the model, which the attacker sees. Norms over weights come from what goes into
/// each layer and what comes back, never from a gradient per record (linear layers; convolutions
/// where it is cheaper).
///
/// Keys: of (weights | record), norm (l2 | l1).
class GradientNorm final : public Attack {
 public:
  explicit GradientNorm(Keys keys)
      : weights_(keys.choice("of", {"weights", "record"})
                     .doc("with respect to the weights, or to the record")
                     .get() == "weights"),
        l2_(keys.choice("norm", {"l2", "l1"})
                .doc("Euclidean, or the sum of absolute values")
                .get() == "l2") {}

  Needs needs() const override {
    return {.records = true, .access = Needs::Access::weights, .one_threshold = true};
  }

  Findings run(const Scene& scene) override {
    auto& service = scene.inside();
    auto& model = service.model();
    const bool was_training = model.is_training();
    model.eval();
    const auto records = scene.records();
    const auto y = scene.y();
    auto scores = torch::empty({scene.size()}, torch::kDouble);
    for (int64_t at = 0; at < scene.size(); at += batch) {
      const auto end = std::min(at + batch, scene.size());
      const auto x = as_input(records.rows(at, end), service.type(), service.device());
      const auto labels = y.slice(0, at, end).to(service.device());
      scores.slice(0, at, end) =
          -(weights_ ? of_weights(service, x, labels) : of_records(service, x, labels));
    }
    model.train(was_training);
    return {scores};
  }

 private:
  static Tensor losses(Service& service, const Tensor& x, const Tensor& y) {
    const auto logits = class_logits(service.model().forward(service.chain().query(x)));
    // In double: of a confident answer, float32 has no digits left for 1 - p.
    return torch::cross_entropy_loss(logits.to(torch::kDouble), y, {}, at::Reduction::None)
        .to(logits.scalar_type());
  }

  Tensor of_weights(Service& service, const Tensor& x, const Tensor& y) const {
    Tape tape;
    const auto each = losses(service, x, y);
    tape.close();
    const auto gradients = per_record(tape, each);
    return l2_ ? gradients.squared_norms().sqrt() : gradients.absolute_sums();
  }

  Tensor of_records(Service& service, Tensor x, const Tensor& y) const {
    x = x.detach().requires_grad_();
    const auto gradient = torch::autograd::grad({losses(service, x, y).sum()}, {x})[0].flatten(1);
    return gradient.norm(l2_ ? 2 : 1, 1);
  }

  bool weights_, l2_;
};

IMPRINT_ATTACK(GradientNorm, "gradient_norm",
               "the smaller the gradient of its loss, the more likely a member",
               "Nasr et al., S&P 2019; Chen et al., ICLR 2022 (RelaxLoss), Appendix");

}  // namespace
}  // namespace imprint::gradient_norm
