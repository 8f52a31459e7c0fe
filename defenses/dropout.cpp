#include "framework/training/defense.h"

namespace imprint::dropout {
namespace {

/// Drops hidden units before the last layer while training (Srivastava et al. 2014).
///
/// Keys: rate (0.5).
class DropoutDefense final : public Defense {
 public:
  explicit DropoutDefense(Keys keys)
      : rate_(keys.number("rate", 0.5).within(0, 0.99).doc("probability that a unit is dropped")) {}

  void shape(Shape& shape) override { shape.dropout = rate_; }

 private:
  double rate_;
};

IMPRINT_DEFENSE(DropoutDefense, "dropout", "drops hidden units before the last layer",
                "Srivastava et al., JMLR 2014");

}  // namespace
}  // namespace imprint::dropout
