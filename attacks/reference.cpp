#include "framework/privacy/attack.h"
#include "framework/privacy/shadow_table.h"

namespace imprint::reference {
namespace {

/// Attack-R: the share of shadows without the record whose loss on it exceeds the target's; equal
/// ones count half. With few shadows that is a coarse scale, so `smooth` takes the normal
/// distribution of their losses (on the scale of log-odds) instead of counting.
///
/// Keys: smooth (false).
class Reference final : public Attack {
 public:
  explicit Reference(Keys keys)
      : smooth_(keys.flag("smooth", false)
                    .doc("the tail of a normal distribution fitted to the shadows instead of the "
                         "share of them")) {}

  Needs needs() const override {
    return {.signal = Needs::Signal::phi, .shadows = Needs::Shadows::pool, .one_threshold = true};
  }

  // The loss falls where the log-odds rise, so these will do for both.
  Findings run(const Scene& scene) override {
    return {scores_by_shadows(
        scene, [](const Seen& seen) { return seen.phi(); },
        [&](const ShadowTable& table, const Tensor& own) {
          return smooth_ ? tail(table, own) : share(table, own);
        })};
  }

 private:
  static Tensor share(const ShadowTable& table, const Tensor& own) {
    const auto out = table.out();
    const auto below = ((table.values < own) & out).sum(0),
               equal = (table.values.eq(own) & out).sum(0);
    return (below.to(torch::kDouble) + equal / 2.0) / out.sum(0).clamp_min(1);
  }

  static Tensor tail(const ShadowTable& table, const Tensor& own) {
    const auto [mean, squares, count] = moments_where(table.values, table.out());
    // One shadow knows no spread: the pooled one of the block stands in.
    const auto pooled = squares.sum() / (count - 1).clamp_min(0).sum().clamp_min(1);
    const auto spread = torch::where(count > 1, squares / (count - 1).clamp_min(1), pooled);
    return torch::special_log_ndtr((own - mean) / spread.clamp_min(1e-12).sqrt());
  }

  bool smooth_;
};

IMPRINT_ATTACK(Reference, "reference", "rank of the loss among shadows without the record",
               "Ye et al., CCS 2022 (Attack-R)");

}  // namespace
}  // namespace imprint::reference
