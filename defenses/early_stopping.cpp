#include "framework/training/defense.h"

namespace imprint::early_stopping {
namespace {

/// Releases the weights of an earlier epoch; schedule and training stay as they are, so its whole
/// grid is one training. Shadows release the same epoch.
///
/// Keys: epoch (required).
class EarlyStopping final : public Defense {
 public:
  explicit EarlyStopping(Keys keys)
      : epoch_(
            keys.integer("epoch").at_least(1).late().doc("the epoch whose weights are released")) {}

  std::optional<int64_t> release() const override { return epoch_; }

 private:
  int64_t epoch_;
};

IMPRINT_DEFENSE(EarlyStopping, "early_stopping", "releases the weights of an earlier epoch",
                "Song and Mittal, USENIX Security 2021, Section 4.3");

}  // namespace
}  // namespace imprint::early_stopping
