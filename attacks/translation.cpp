#include "framework/privacy/changed_labels.h"

namespace imprint::translation {
namespace {

// All moves whose steps add up to `distance`, as the paper has them: 4 d beside the image itself.
std::vector<Transform> moved(int64_t distance) {
  std::vector<Transform> versions;
  for (int64_t right = -distance; right <= distance; ++right) {
    const auto down = distance - std::abs(right);
    versions.push_back({.right = right, .down = -down});
    if (down != 0) versions.push_back({.right = right, .down = down});
  }
  return versions;
}

/// Asks for the labels of each image as it is and moved by some pixels; see ChangedLabels.
///
/// Keys: distance (1), and those of ChangedLabels.
class Translation final : public ChangedLabels {
 public:
  explicit Translation(Keys keys)
      : ChangedLabels(keys, moved(keys.integer("distance", 1)
                                      .within(1, 16)
                                      .doc("pixels, across and down together"))) {}
};

IMPRINT_ATTACK(Translation, "translation", "labels of the image moved by some pixels",
               "Choquette-Choo et al., ICML 2021; Liu et al., ICML 2024, Section 5.1");

}  // namespace
}  // namespace imprint::translation
