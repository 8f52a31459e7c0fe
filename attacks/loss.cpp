#include "framework/privacy/attack.h"

namespace imprint::loss {
namespace {

/// Scores a record by minus its cross-entropy loss (Yeom et al. 2018), from exact
/// log-probabilities. No keys of its own.
class Loss final : public Attack {
 public:
  explicit Loss(Keys) {}

  Needs needs() const override { return {.signal = Needs::Signal::phi}; }

  Findings run(const Scene& scene) override { return {scene.true_log_p()}; }
};

IMPRINT_ATTACK(Loss, "loss", "the lower its loss, the more likely a record is a member",
               "Yeom et al., CSF 2018");

}  // namespace
}  // namespace imprint::loss
