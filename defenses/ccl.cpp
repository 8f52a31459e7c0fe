#include "framework/training/defense.h"

namespace imprint::ccl {
namespace {

/// Convex-concave loss (Liu et al. 2024, Eq. 4-6): beta (alpha l + (1 - alpha) c(p_y)) with the
/// loss l and a concave term c. The concave term pulls hardest on records that are confident
/// already, which widens the distribution of training losses and blurs members with non-members.
///
/// With `convex: focal` (Appendix D) l is multiplied by (1 - p_y)^gamma. The public code adds
/// +exp(p_y) there, which is convex and caps the confidence; `concave: flipped` is that, and no
/// convex-concave loss.
///
/// A small beta is mostly a stronger weight decay: `alpha: 1` with the same beta is the control.
///
/// Keys: convex (cross_entropy | focal), gamma (2), concave (exponential | quadratic | flipped),
/// alpha (0.5), beta (1).
class Ccl final : public Defense {
 public:
  explicit Ccl(Keys keys)
      : focal_(keys.choice("convex", {"cross_entropy", "focal"})
                   .doc("the term l: the loss as it is, or times (1 - p)^gamma")
                   .get() == "focal"),
        gamma_(keys.number("gamma", 2).at_least(0).doc("convex: focal: its exponent")),
        concave_(keys.choice("concave", {"exponential", "quadratic", "flipped"})
                     .doc("the term c: -exp(p), -p - p^2/2, or the public code's mistake +exp(p)")),
        alpha_(keys.number("alpha", 0.5)
                   .within(0, 1)
                   .doc("weight of the convex part; 1 is plain training")),
        beta_(keys.number("beta", 1).above(0).doc(
            "scale of the whole loss; the paper uses 0.01 on CIFAR-10, 0.05 on CIFAR-100")) {}

  Tensor loss(Tensor losses, const Tensor& logits, const Batch& batch, const Step&) override {
    // Not exp(-losses): earlier defenses of a chain may have changed them.
    const auto p = true_class_probability(logits, batch.y);
    if (focal_) losses = focal_weight(p, gamma_) * losses;
    return beta_ * (alpha_ * losses + (1 - alpha_) * concave_term(p));
  }

 private:
  Tensor concave_term(const Tensor& p) const {
    if (concave_ == "quadratic") return -p - p.square() / 2;
    return concave_ == "flipped" ? p.exp() : -p.exp();
  }

  bool focal_;
  double gamma_;
  std::string concave_;
  double alpha_, beta_;
};

IMPRINT_DEFENSE(Ccl, "ccl", "convex-concave loss: alpha CE + (1 - alpha) c(p_y)",
                "Liu et al., ICML 2024, Eq. 4-6 and Appendix D");

}  // namespace
}  // namespace imprint::ccl
