#include "framework/privacy/changed_labels.h"

namespace imprint::rotation {
namespace {

std::vector<Transform> turned(const std::vector<double>& angles) {
  std::vector<Transform> versions;
  for (const auto angle : angles)
    if (angle != 0) versions.push_back({.degrees = angle});
  return versions;
}

/// Asks for the labels of each image as it is and turned by small angles; see ChangedLabels.
///
/// Keys: angles ([-4, 4]), and those of ChangedLabels.
class Rotation final : public ChangedLabels {
 public:
  explicit Rotation(Keys keys)
      : ChangedLabels(keys, turned(keys.numbers("angles", {-4, 4})
                                       .within(-180, 180)
                                       .doc("degrees, counter-clockwise, beside 0"))) {}
};

IMPRINT_ATTACK(Rotation, "rotation", "labels of the image turned by small angles",
               "Choquette-Choo et al., ICML 2021; Liu et al., ICML 2024, Section 5.1");

}  // namespace
}  // namespace imprint::rotation
