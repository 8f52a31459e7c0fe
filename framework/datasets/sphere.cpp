#include <cmath>

#include "framework/data/dataset.h"
#include "framework/data/stream.h"

namespace imprint::sphere {
namespace {

/// Points uniform on a sphere, in float64: normal vectors scaled to one length. Labels are the
/// parity of how many coordinates are positive (no small network learns it), random, or the sign of
/// the first coordinate. The same records for the same keys.
///
/// Keys: records (4000), features (20), radius (sqrt(features)), labels (parity), seed (0).
class Sphere final : public Source {
 public:
  explicit Sphere(Keys keys)
      : records_(keys.integer("records", 4000).at_least(4).doc("number of records")),
        features_(keys.integer("features", 20).at_least(1).doc("numbers per record")),
        radius_(keys.number("radius", std::sqrt(static_cast<double>(features_)))
                    .above(0)
                    .doc("of the sphere; by default the square root of features")),
        labels_(keys.choice("labels", {"parity", "random", "sign"})
                    .doc("parity of the positive coordinates; random; sign of the first one")),
        seed_(keys.integer("seed", 0).at_least(0).doc(
            "of the records, whatever the experiment's seed")) {}

  Dataset load() const override {
    const auto stream = Stream(static_cast<uint64_t>(seed_)).at("sphere");
    const auto normal =
        torch::randn({records_, features_}, stream.at("x").generator(), torch::kDouble);
    const auto x = normal / normal.norm(2, 1, true) * radius_;
    return {x, labels_of(x, stream.at("y")), 2};
  }

 private:
  Tensor labels_of(const Tensor& x, const Stream& stream) const {
    if (labels_ == "random")
      return torch::randint(0, 2, {records_}, stream.generator(), torch::kLong);
    if (labels_ == "sign") return x.select(1, 0).gt(0).to(torch::kLong);
    return x.gt(0).sum(1).remainder(2);
  }

  int64_t records_, features_;
  double radius_;
  std::string labels_;
  int64_t seed_;
};

IMPRINT_DATASET(Sphere, "sphere", "points uniform on a sphere", "made up");

}  // namespace
}  // namespace imprint::sphere
