#include <cmath>

#include "framework/privacy/attack.h"
#include "framework/privacy/shadow_table.h"

namespace imprint::rmia {
namespace {

/// Robust membership inference: the share of population records z for which the record's likelihood
/// ratio beats theirs, Pr_z[(p_t(x)/p(x)) / (p_t(z)/p(z)) >= gamma]. p(.) is what models in general
/// say: online the mean over shadows that saw x and over those that did not, half each; offline
/// ((1 + a) p_out + 1 - a) / 2, for x and for z. The ratios of z are sorted once, so that no table
/// of x against z is needed.
///
/// Keys: mode (online | offline), gamma (2), a (0.3).
class Rmia final : public Attack {
 public:
  explicit Rmia(Keys keys)
      : online_(keys.choice("mode", {"online", "offline"})
                    .doc("online: also shadows that saw the record; offline: only the others")
                    .get() == "online"),
        gamma_(keys.number("gamma", 2).above(0).doc("by how much the record's ratio must win")),
        a_(keys.number("a", 0.3).within(0, 1).doc("offline: how far p moves from what shadows "
                                                  "without the record say (1) towards 1 (0)")) {}

  Needs needs() const override {
    return {.signal = Needs::Signal::phi,
            .shadows = Needs::Shadows::pool,
            .population = true,
            .one_threshold = true};
  }

  Findings run(const Scene& scene) override {
    const auto sorted = std::get<0>(population_ratios(scene).sort());
    return {scores_by_shadows(
        scene, [](const Seen& seen) { return seen.true_log_p(); },
        [&](const ShadowTable& table, const Tensor& own) {
          const auto beaten = torch::searchsorted(sorted, own - general(table) - std::log(gamma_),
                                                  /*out_int32=*/false, /*right=*/true);
          return beaten.to(torch::kDouble) / static_cast<double>(sorted.numel());
        })};
  }

 private:
  // log of ((1 + a) p + 1 - a) / 2.
  Tensor moved(const Tensor& log_p) const {
    if (a_ == 1) return log_p;
    return torch::logaddexp(log_p + std::log((1 + a_) / 2),
                            torch::full_like(log_p, std::log((1 - a_) / 2)));
  }

  Tensor general(const ShadowTable& table) const {
    const auto out = log_mean_exp_where(table.values, table.out());
    if (!online_) return moved(out);
    return torch::logaddexp(out, log_mean_exp_where(table.values, table.in)) - std::log(2);
  }

  // log (p_t(z) / p(z)); no shadow saw any z.
  Tensor population_ratios(const Scene& scene) const {
    Tensor general;
    const auto shadows = scene.shadows();
    for (size_t i = 0; i < shadows; ++i) {
      const auto log_p = scene.shadow(i).population().true_log_p();
      general = general.defined() ? torch::logaddexp(general, log_p) : log_p.clone();
    }
    general = general - std::log(static_cast<double>(shadows));
    return scene.population().true_log_p() - (online_ ? general : moved(general));
  }

  bool online_;
  double gamma_, a_;
};

IMPRINT_ATTACK(Rmia, "rmia", "likelihood ratio of the record against those of the population",
               "Zarifzadeh et al., ICML 2024, Eq. 4 and 10");

}  // namespace
}  // namespace imprint::rmia
