#include "framework/training/defense.h"

namespace imprint::label_smoothing {
namespace {

/// Trains towards (1 - epsilon) of the label and epsilon of the uniform distribution (Szegedy et
/// al. 2016, Section 7).
///
/// Keys: epsilon (0.1).
class LabelSmoothing final : public Defense {
 public:
  explicit LabelSmoothing(Keys keys)
      : epsilon_(keys.number("epsilon", 0.1)
                     .within(0, 1)
                     .doc("mass moved to the uniform distribution")) {}

  Batch batch(Batch batch, const Step& step) override {
    if (epsilon_ == 0) return batch;
    const auto classes = step.split.train.classes;
    batch.targets =
        (1 - epsilon_) * batch.soft_targets(classes) + epsilon_ / static_cast<double>(classes);
    return batch;
  }

 private:
  double epsilon_;
};

IMPRINT_DEFENSE(LabelSmoothing, "label_smoothing",
                "soft labels: (1 - epsilon) one-hot + epsilon uniform",
                "Szegedy et al., CVPR 2016, Section 7");

}  // namespace
}  // namespace imprint::label_smoothing
