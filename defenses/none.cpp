#include "framework/training/defense.h"

namespace imprint::none {
namespace {

/// Plain training: the baseline that every defense is compared with. No keys.
class None final : public Defense {
 public:
  explicit None(Keys) {}
};

IMPRINT_DEFENSE(None, "none", "plain training, the baseline", "");

}  // namespace
}  // namespace imprint::none
