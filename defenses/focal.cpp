#include "framework/training/defense.h"

namespace imprint::focal {
namespace {

/// Focal loss (Lin et al. 2017, Eq. 4, without class weights): (1 - p_y)^gamma times the loss.
/// Records that are confident already count less, so that training losses end higher. It is the CCL
/// paper's example of a loss more convex than cross-entropy (Liu et al. 2024, Figure 1), and can be
/// the convex part of `ccl`.
///
/// Keys: gamma (2).
class Focal final : public Defense {
 public:
  explicit Focal(Keys keys)
      : gamma_(
            keys.number("gamma", 2).at_least(0).doc("exponent of 1 - p_y; 0 is plain training")) {}

  Tensor loss(Tensor losses, const Tensor& logits, const Batch& batch, const Step&) override {
    return focal_weight(true_class_probability(logits, batch.y), gamma_) * losses;
  }

 private:
  double gamma_;
};

IMPRINT_DEFENSE(Focal, "focal", "focal loss: (1 - p_y)^gamma CE", "Lin et al., ICCV 2017, Eq. 4");

}  // namespace
}  // namespace imprint::focal
