#include "framework/privacy/attack.h"

namespace imprint::loss {
namespace {

/// Scores a record by minus its cross-entropy loss (Yeom et al. 2018), from exact
/// log-probabilities. No keys of its own.
class Loss final : public Attack {
 public:
  explicit Loss(Keys) {}

  Needs needs() const override { return {}; }

  Findings run(const Scene& scene) override {
    return {true_log_p(scene.log_p(), scene.y()), {}, {}};
  }
};

IMPRINT_ATTACK(Loss, "loss", "the lower its loss, the more likely a record is a member",
               "Yeom et al., CSF 2018");

}  // namespace
}  // namespace imprint::loss
