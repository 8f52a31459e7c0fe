#include "framework/privacy/attack.h"

namespace imprint::entropy {
namespace {

/// Scores a record by minus the Shannon entropy of its prediction. No keys of its own.
class Entropy final : public Attack {
 public:
  explicit Entropy(Keys) {}

  Needs needs() const override { return {}; }

  Findings run(const Scene& scene) override { return {-entropy_of(scene.log_p())}; }
};

IMPRINT_ATTACK(Entropy, "entropy", "the lower the prediction's entropy, the more likely a member",
               "Shokri et al., S&P 2017; Song and Mittal, USENIX Security 2021");

}  // namespace
}  // namespace imprint::entropy
