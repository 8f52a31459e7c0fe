#include "framework/training/defense.h"

namespace imprint::ccl {
namespace {

/// Convex-concave loss (Liu et al. 2024, Eq. 4-6): beta (alpha l + (1 - alpha) c(p_y)) with the
/// loss l and a concave term c. The concave term pulls hardest on records that are confident
/// already, which widens the distribution of training losses and blurs members with non-members.
///
/// Keys: concave (exponential | quadratic), alpha (0.5), beta (1).
class Ccl final : public Defense {
 public:
  explicit Ccl(Keys keys)
      : exponential_(keys.choice("concave", {"exponential", "quadratic"})
                         .doc("the term c: -exp(p) or -p - p^2/2")
                         .get() == "exponential"),
        alpha_(keys.number("alpha", 0.5)
                   .within(0, 1)
                   .doc("weight of the convex part; 1 is plain training")),
        beta_(keys.number("beta", 1).above(0).doc(
            "scale of the whole loss; the paper uses 0.01 on CIFAR-10, 0.05 on CIFAR-100")) {}

  Tensor loss(Tensor losses, const Tensor& logits, const Batch& batch, const Step&) override {
    // Not exp(-losses): earlier defenses of a chain may have changed them.
    const auto p = true_class_probability(logits, batch.y);
    const auto c = exponential_ ? -p.exp() : -p - p.square() / 2;
    return beta_ * (alpha_ * losses + (1 - alpha_) * c);
  }

 private:
  bool exponential_;
  double alpha_, beta_;
};

IMPRINT_DEFENSE(Ccl, "ccl", "convex-concave loss: alpha CE + (1 - alpha) c(p_y)",
                "Liu et al., ICML 2024, Eq. 4-6");

}  // namespace
}  // namespace imprint::ccl
