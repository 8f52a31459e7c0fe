#include <cmath>

#include "framework/privacy/attack.h"
#include "framework/privacy/shadow_table.h"

namespace imprint::base {
namespace {

/// How much more probable the target finds the true class than models in general do:
/// log p_t(x) - log mean_k p_k(x). Online the mean is that over shadows that saw the record and
/// over those that did not, half each; offline only the latter, all that a patient attacker has who
/// trained before the candidates were known.
///
/// Keys: mode (online | offline).
class Base final : public Attack {
 public:
  explicit Base(Keys keys)
      : online_(keys.choice("mode", {"online", "offline"})
                    .doc("online: also shadows that saw the record; offline: only the others")
                    .get() == "online") {}

  Needs needs() const override {
    return {.signal = Needs::Signal::phi, .shadows = Needs::Shadows::pool, .one_threshold = true};
  }

  Findings run(const Scene& scene) override {
    return {scores_by_shadows(
        scene, [](const Seen& seen) { return seen.true_log_p(); },
        [&](const ShadowTable& table, const Tensor& own) {
          const auto out = log_mean_exp_where(table.values, table.out());
          if (!online_) return own - out;
          const auto in = log_mean_exp_where(table.values, table.in);
          return own - torch::logaddexp(out, in) + std::log(2);
        })};
  }

 private:
  bool online_;
};

IMPRINT_ATTACK(Base, "base", "the target's probability of the true class against shadows' mean",
               "Lassila et al., 2025 (BASE); RMIA's ratio without its population");

}  // namespace
}  // namespace imprint::base
