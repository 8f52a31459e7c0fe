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

  Needs needs() const override { return {}; }

  Findings run(const Scene& scene) override {
    const auto log_p = scene.log_p();
    return {max_ ? log_p.amax(1) : true_log_p(log_p, scene.y()), {}, {}};
  }

 private:
  bool max_;
};

IMPRINT_ATTACK(Confidence, "confidence", "the more confident the model, the more likely a member",
               "Salem et al., NDSS 2019 (max); Song and Mittal, USENIX Security 2021 (true class)");

}  // namespace
}  // namespace imprint::confidence
