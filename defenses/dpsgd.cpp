#include "framework/training/defense.h"

namespace imprint::dpsgd {
namespace {

/// DP-SGD (Abadi et al. 2016, Algorithm 1): each record's gradient is clipped to norm C, the sum
/// gets Gaussian noise of deviation sigma C, divided by the expected batch size. Norms come from
/// the layers' factors; no gradient of a single record is ever formed. No accountant: no epsilon is
/// claimed.
///
/// Keys: clip (1), noise (1).
class Dpsgd final : public Defense {
 public:
  explicit Dpsgd(Keys keys)
      : clip_(keys.number("clip", 1).above(0).doc("C, largest norm of one record's gradient")),
        noise_(keys.number("noise", 1).at_least(0).doc("sigma, noise over clip")) {}

  Demands demands() const override { return {.reference = false, .sampling = "poisson"}; }

  bool gradient(const Batch&, const Losses& losses, const Step& step) override {
    const auto records = per_record(losses.tape, losses.each);
    const auto norms = records.squared_norms().sqrt();
    const double expected = step.expected_batch;
    records.set_gradients((clip_ / norms.clamp_min(1e-30)).clamp_max(1) / expected);
    if (noise_ == 0) return true;
    auto generator = step.stream.at("dpsgd", static_cast<uint64_t>(step.step)).generator();
    for (auto& p : step.model.parameters()) {
      const auto drawn = torch::randn(p.sizes(), generator, p.scalar_type());
      p.mutable_grad().add_(drawn.to(p.device()), noise_ * clip_ / expected);
    }
    return true;
  }

 private:
  double clip_, noise_;
};

IMPRINT_DEFENSE(Dpsgd, "dpsgd", "clipped per-record gradients and Gaussian noise",
                "Abadi et al., CCS 2016, Algorithm 1");

}  // namespace
}  // namespace imprint::dpsgd
