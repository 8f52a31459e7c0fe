#include "framework/training/defense.h"

namespace imprint::dropout {
namespace {

/// Drops hidden units before the last layer while training (Srivastava et al. 2014), or, with
/// `position: logits`, the logits themselves, as the CCL paper's code does for images: a dropped
/// logit is 0, the others are divided by 1 - rate.
///
/// Keys: rate (0.5), position (last_layer | logits).
class DropoutDefense final : public Defense {
 public:
  explicit DropoutDefense(Keys keys)
      : rate_(keys.number("rate", 0.5)
                  .within(0, 0.99)
                  .doc("probability that a unit is dropped; 0 is plain training")),
        on_logits_(keys.choice("position", {"last_layer", "logits"})
                       .doc("what is dropped: the units before the last layer, or its outputs")
                       .get() == "logits") {}

  void shape(Shape& shape) override {
    if (!on_logits_) shape.dropout = rate_;
  }

  Tensor logits(Tensor logits, const Batch&, const Step& step) override {
    if (!on_logits_ || rate_ == 0) return logits;
    auto generator = step.stream.at("dropout", static_cast<uint64_t>(step.step)).generator();
    const auto kept = torch::rand(logits.sizes(), generator, torch::kDouble).ge(rate_);
    return logits * kept.to(logits.options()) / (1 - rate_);
  }

 private:
  double rate_;
  bool on_logits_;
};

IMPRINT_DEFENSE(DropoutDefense, "dropout", "drops hidden units before the last layer, or logits",
                "Srivastava et al., JMLR 2014");

}  // namespace
}  // namespace imprint::dropout
