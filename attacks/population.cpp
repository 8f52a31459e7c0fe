#include <algorithm>

#include "framework/privacy/attack.h"

namespace imprint::population {
namespace {

/// Attack-P: the share of population records, of the same class or of all, whose loss under the
/// target exceeds the record's; equal ones count half. Needs no shadow but for its threshold.
///
/// Keys: compare (class | all).
class Population final : public Attack {
 public:
  explicit Population(Keys keys)
      : by_class_(keys.choice("compare", {"class", "all"})
                      .doc("with population records of the same class, or with all")
                      .get() == "class") {}

  Needs needs() const override {
    return {.signal = Needs::Signal::phi, .population = true, .one_threshold = true};
  }

  // The loss falls where the log-odds rise, so these will do.
  Findings run(const Scene& scene) override {
    const auto others = scene.population();
    const auto own = scene.phi(), their = others.phi();
    if (!by_class_) return {share_below(own, their)};
    const auto y = scene.y(), their_y = others.y();
    auto scores = torch::empty_like(own);
    for (int64_t k = 0; k < scene.classes(); ++k) {
      const auto rows = y.eq(k).nonzero().squeeze(1);
      const auto same = their.masked_select(their_y.eq(k));
      // A class without population records is compared with all.
      scores.index_copy_(0, rows,
                         share_below(own.index_select(0, rows), same.numel() > 0 ? same : their));
    }
    return {scores};
  }

 private:
  static Tensor share_below(const Tensor& values, const Tensor& others) {
    const auto sorted = std::get<0>(others.sort());
    const auto below = torch::searchsorted(sorted, values);
    const auto not_above = torch::searchsorted(sorted, values, /*out_int32=*/false, /*right=*/true);
    return (below + not_above).to(torch::kDouble) / (2.0 * static_cast<double>(sorted.numel()));
  }

  bool by_class_;
};

IMPRINT_ATTACK(Population, "population", "rank of the loss among records that nobody trained on",
               "Ye et al., CCS 2022 (Attack-P)");

}  // namespace
}  // namespace imprint::population
