#include <cmath>

#include "framework/training/defense.h"

namespace imprint::confidence_rounding {
namespace {

/// Returns probabilities rounded to a few digits (Shokri et al. 2017, Section 9). The predicted
/// class stays: where rounding would tie it with another, it keeps the larger value.
///
/// Keys: digits (1).
class ConfidenceRounding final : public Defense {
 public:
  explicit ConfidenceRounding(Keys keys)
      : digits_(keys.integer("digits", 1)
                    .within(0, 15)
                    .late()
                    .doc("decimal digits that are returned")) {}

  Tensor output(Tensor log_p, const Tensor& /*seeds*/) const override {
    const auto scale = std::pow(10.0, static_cast<double>(digits_));
    const auto rounded = (log_p.exp() * scale).round() / scale;
    const auto top = log_p.argmax(1, true);
    const auto kept = rounded.gather(1, top) + 1e-9;
    return rounded.scatter(1, top, kept).log();
  }

 private:
  int64_t digits_;
};

IMPRINT_DEFENSE(ConfidenceRounding, "confidence_rounding",
                "returns probabilities rounded to a few digits",
                "Shokri et al., S&P 2017, Section 9");

}  // namespace
}  // namespace imprint::confidence_rounding
