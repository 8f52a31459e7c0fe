#include "framework/privacy/attack.h"

namespace imprint::confidence {
namespace {

/// Scores a record by the model's confidence, in its answer or in the true class. The reference
/// code of the CCL paper uses the first, RelaxLoss's the second (which ranks like the loss attack).
///
/// Keys: of (max | true).
class Confidence final : public Attack {
 public:
  explicit Confidence(Keys keys)
      : max_(keys.choice("of", {"max", "true"})
                 .doc("max: the largest probability; true: that of the true class")
                 .get() == "max") {}

  Needs needs() const override {
    return {.signal = max_ ? Needs::Signal::log_p : Needs::Signal::phi};
  }

  Findings run(const Scene& scene) override {
    return {max_ ? scene.log_p().amax(1) : scene.true_log_p()};
  }

 private:
  bool max_;
};

IMPRINT_ATTACK(Confidence, "confidence", "the more confident the model, the more likely a member",
               "Salem et al., NDSS 2019 (max); Song and Mittal, USENIX Security 2021 (true class)");

}  // namespace
}  // namespace imprint::confidence
