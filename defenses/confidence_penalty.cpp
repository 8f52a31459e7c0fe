#include "framework/training/defense.h"

namespace imprint::confidence_penalty {
namespace {

/// Rewards answers that are not certain (Pereyra et al. 2017, Section 3): the loss minus weight
/// times the entropy H(p) = -sum_k p_k log p_k of each record's answer.
///
/// Keys: weight (0.1).
class ConfidencePenalty final : public Defense {
 public:
  explicit ConfidencePenalty(Keys keys)
      : weight_(keys.number("weight", 0.1).at_least(0).doc("of the entropy; 0 is plain training")) {
  }

  Tensor loss(Tensor losses, const Tensor& logits, const Batch&, const Step&) override {
    if (weight_ == 0) return losses;
    const auto log_p = class_logits(logits).log_softmax(1);
    return losses + weight_ * (log_p.exp() * log_p).sum(1);
  }

 private:
  double weight_;
};

IMPRINT_DEFENSE(ConfidencePenalty, "confidence_penalty", "CE minus the entropy of the answer",
                "Pereyra et al., ICLR 2017 workshop, Section 3");

}  // namespace
}  // namespace imprint::confidence_penalty
