#include "framework/privacy/attack.h"
#include "framework/privacy/membership_net.h"

namespace imprint::neural {
namespace {

/// A network that learned from one shadow how answers about members look. The CCL paper's code
/// gives it the softmax as it is (the paper says logits), RelaxLoss's the sorted logits.
///
/// Keys: input (softmax | logits), order (raw | sorted | top), top (3), with_label (false), and
/// those of MembershipNet (100 epochs).
class Neural final : public Attack {
 public:
  explicit Neural(Keys keys)
      : logits_(keys.choice("input", {"softmax", "logits"}).doc("what it is given").get() ==
                "logits"),
        order_(keys.choice("order", {"raw", "sorted", "top"})
                   .doc("by class, from the largest down, or only the largest")),
        top_(keys.integer("top", 3).at_least(1).doc("order: top: how many")),
        with_label_(
            keys.flag("with_label", false).doc("beside them the true class, one number each")),
        net_(keys, 100) {}

  Needs needs() const override {
    return {.signal = logits_ ? Needs::Signal::logits : Needs::Signal::log_p,
            .shadows = Needs::Shadows::one,
            .decides = true};
  }

  Findings run(const Scene& scene) override {
    const auto shadow = scene.shadow(0);
    net_.learn(features(shadow), shadow.member(), scene.stream());
    const auto odds = net_.log_odds(features(scene));
    return {odds, odds > 0};
  }

 private:
  Tensor features(const Seen& seen) const {
    auto values = logits_ ? seen.logits().to(torch::kDouble) : seen.log_p().exp();
    if (order_ == "sorted") values = std::get<0>(values.sort(1, /*descending=*/true));
    if (order_ == "top") values = std::get<0>(values.topk(std::min(top_, values.size(1)), 1));
    if (!with_label_) return values;
    return torch::cat({values, torch::one_hot(seen.y(), seen.classes()).to(torch::kDouble)}, 1);
  }

  bool logits_;
  std::string order_;
  int64_t top_;
  bool with_label_;
  MembershipNet net_;
};

IMPRINT_ATTACK(Neural, "neural", "a network trained on a shadow's answers",
               "Shokri et al., S&P 2017; Salem et al., NDSS 2019; Liu et al., ICML 2024");

}  // namespace
}  // namespace imprint::neural
