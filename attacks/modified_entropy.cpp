#include "framework/privacy/attack.h"

namespace imprint::modified_entropy {
namespace {

/// Scores a record by minus its modified entropy, which unlike the entropy knows the true label: a
/// confident wrong answer counts against membership. No keys of its own.
class ModifiedEntropy final : public Attack {
 public:
  explicit ModifiedEntropy(Keys) {}

  Needs needs() const override { return {}; }

  Findings run(const Scene& scene) override {
    return {-modified_entropy_of(scene.log_p(), scene.y())};
  }
};

IMPRINT_ATTACK(ModifiedEntropy, "modified_entropy",
               "entropy that takes the true label into account",
               "Song and Mittal, USENIX Security 2021, Eq. 8");

}  // namespace
}  // namespace imprint::modified_entropy
