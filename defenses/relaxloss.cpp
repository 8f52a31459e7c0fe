#include "framework/training/defense.h"

namespace imprint::relaxloss {
namespace {

/// RelaxLoss (Chen et al. 2022, Algorithm 1): keeps the mean loss L of a batch near alpha. In even
/// epochs (counted from 0) the loss is |L - alpha|: ascent where L is below. In odd epochs it is L
/// as long as that is above alpha; else answers are flattened towards soft labels t with t_y =
/// min(p_y, upper) and the rest spread evenly, CE_t = -sum_k t_k log p_k. For images only those
/// that are classified wrongly are pulled there while all losses ascend, mean(wrong CE_t - l); for
/// tabular data it is mean(CE_t).
///
/// With `mode: flooding` every epoch is an even one (Ishida et al. 2020, but for a constant): the
/// CCL paper's code tests the number of epochs, 300, where it means the epoch.
///
/// Published (alpha, upper): CIFAR-10 resnet (1, 1), vgg (0.4, 1); CIFAR-100 (3, 1), (0.5, 1);
/// Purchase100 (0.8, 0.3); Texas100 (2.5, 0.1).
///
/// Keys: mode (relaxloss | flooding), alpha (1), upper (1), flatten (image | tabular), detach
/// (false).
class RelaxLoss final : public Defense {
 public:
  explicit RelaxLoss(Keys keys)
      : flooding_(keys.choice("mode", {"relaxloss", "flooding"})
                      .doc("flooding: |L - alpha| in every epoch, never any flattening")
                      .get() == "flooding"),
        alpha_(keys.number("alpha", 1)
                   .at_least(0)
                   .doc("mean loss that training stays near; 0 is plain training")),
        upper_(keys.number("upper", 1)
                   .within(0, 1)
                   .doc("flattening: largest confidence of the soft labels")),
        tabular_(keys.choice("flatten", {"image", "tabular"})
                     .doc("flattening: wrongly classified records and ascent, or all records")
                     .get() == "tabular"),
        detach_(keys.flag("detach", false)
                    .doc("flattening: no gradient through the soft labels; the public code has "
                         "one")) {}

  Demands demands() const override { return {.loss = "cross_entropy"}; }

  Tensor loss(Tensor losses, const Tensor& logits, const Batch& batch, const Step& step) override {
    // Poisson sampling may draw nobody, who has no mean.
    if (losses.size(0) == 0) return losses;
    const auto mean = losses.mean();
    if (flooding_ || step.epoch % 2 == 0) return (mean - alpha_).abs();
    if (mean.item<double>() > alpha_) return mean;
    const auto soft = soft_losses(logits, batch.y);
    if (tabular_) return soft.mean();
    return (logits.argmax(1).ne(batch.y) * soft - losses).mean();
  }

 private:
  /// [n], CE_t.
  Tensor soft_losses(const Tensor& logits, const Tensor& y) const {
    const auto log_p = logits.log_softmax(1);
    const auto own = log_p.gather(1, y.unsqueeze(1)).squeeze(1);
    auto t = own.exp().clamp_max(upper_);
    if (detach_) t = t.detach();
    const auto others = static_cast<double>(logits.size(1) - 1);
    return -t * own - (1 - t) / others * (log_p.sum(1) - own);
  }

  bool flooding_;
  double alpha_, upper_;
  bool tabular_, detach_;
};

IMPRINT_DEFENSE(RelaxLoss, "relaxloss",
                "keeps the training loss near a level, by ascent if need be",
                "Chen et al., ICLR 2022, Algorithm 1");

}  // namespace
}  // namespace imprint::relaxloss
