#include "framework/privacy/attack.h"
#include "framework/privacy/pattern_table.h"

namespace imprint::gap {
namespace {

/// The most that one label per record can tell: how much more often a shadow is right about members
/// of this class than about others. Where `correctness` calls every right answer a member, this
/// weighs it by the shadow's gap between train and test accuracy, class by class or over all.
///
/// Keys: by (class | all).
class Gap final : public Attack {
 public:
  explicit Gap(Keys keys)
      : by_class_(
            keys.choice("by", {"class", "all"}).doc("one gap per class, or one for all").get() ==
            "class") {}

  Needs needs() const override {
    return {.signal = Needs::Signal::label, .shadows = Needs::Shadows::one, .decides = true};
  }

  Findings run(const Scene& scene) override {
    const auto shadow = scene.shadow(0);
    const PatternTable table(pattern(shadow), shadow.member(), 2 * scene.classes());
    const auto odds = table.log_odds(pattern(scene));
    return {odds, odds > 0};
  }

 private:
  Tensor pattern(const Seen& seen) const {
    const auto y = seen.y(), right = seen.label().eq(y).to(torch::kLong);
    return by_class_ ? 2 * y + right : right;
  }

  bool by_class_;
};

IMPRINT_ATTACK(Gap, "gap",
               "right or wrong, weighed by a shadow's gap between train and test accuracy",
               "Yeom et al., CSF 2018; the baseline of Choquette-Choo et al., ICML 2021");

}  // namespace
}  // namespace imprint::gap
