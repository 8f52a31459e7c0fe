#include "framework/privacy/attack.h"

namespace imprint::likelihood_ratio {
namespace {

/// One shadow's members and non-members give two normal distributions of the log-odds phi; the
/// score is log N(phi; members) - log N(phi; non-members). Unlike LiRA it knows nothing about a
/// record in particular. No keys of its own.
class LikelihoodRatio final : public Attack {
 public:
  explicit LikelihoodRatio(Keys) {}

  Needs needs() const override {
    return {.signal = Needs::Signal::phi, .shadows = Needs::Shadows::one};
  }

  Findings run(const Scene& scene) override {
    const auto shadow = scene.shadow(0);
    const auto phi = shadow.phi(), own = scene.phi();
    const auto member = shadow.member();
    return {log_normal(own, phi.masked_select(member)) -
            log_normal(own, phi.masked_select(member.logical_not()))};
  }

 private:
  static Tensor log_normal(const Tensor& x, const Tensor& sample) {
    const auto variance = sample.var(/*unbiased=*/false).clamp_min(1e-12);
    return -(x - sample.mean()).square() / (2 * variance) - variance.log() / 2;
  }
};

IMPRINT_ATTACK(LikelihoodRatio, "likelihood_ratio",
               "likelihood ratio of log-odds under one shadow's members and non-members",
               "code of Liu et al., ICML 2024; after Carlini et al., S&P 2022");

}  // namespace
}  // namespace imprint::likelihood_ratio
