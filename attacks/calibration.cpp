#include "framework/privacy/attack.h"
#include "framework/privacy/shadow_table.h"

namespace imprint::calibration {
namespace {

/// Difficulty calibration: how much lower the target's loss is than the mean loss of shadows that
/// never saw the record, so that records that are easy for everybody stop looking like members. No
/// keys of its own.
class Calibration final : public Attack {
 public:
  explicit Calibration(Keys) {}

  Needs needs() const override {
    return {.signal = Needs::Signal::phi, .shadows = Needs::Shadows::pool, .one_threshold = true};
  }

  Findings run(const Scene& scene) override {
    return {scores_by_shadows(
        scene, [](const Seen& seen) { return seen.true_log_p(); },
        [](const ShadowTable& table, const Tensor& own) {
          return own - moments_where(table.values, table.out()).mean;
        })};
  }
};

IMPRINT_ATTACK(Calibration, "calibration", "loss below what shadows without the record have",
               "Watson et al., ICLR 2022, Eq. 4");

}  // namespace
}  // namespace imprint::calibration
