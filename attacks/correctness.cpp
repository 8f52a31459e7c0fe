#include "framework/privacy/attack.h"

namespace imprint::correctness {
namespace {

/// Says member where the prediction is right (Yeom et al. 2018, the gap attack). Its advantage is
/// exactly train accuracy minus test accuracy. No keys.
class Correctness final : public Attack {
 public:
  explicit Correctness(Keys) {}

  Needs needs() const override { return {.signal = Needs::Signal::label, .decides = true}; }

  Findings run(const Scene& scene) override {
    const auto right = scene.label().eq(scene.y());
    return {right.to(torch::kDouble), right};
  }
};

IMPRINT_ATTACK(Correctness, "correctness", "member iff the predicted label is right",
               "Yeom et al., CSF 2018; Liu et al., ICML 2024, Section 5.1");

}  // namespace
}  // namespace imprint::correctness
