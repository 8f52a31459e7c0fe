#include <cmath>

#include "framework/data/dataset.h"
#include "framework/data/stream.h"

namespace imprint::antipodal {
namespace {

/// The four points for which the separation law's Theorem 3 has exact answers, in float64, then
/// `fresh` standard normal records with random labels. With d features:
///
///     x_1 = sqrt(d) e_1, x_2 = -x_1, x_3 = sqrt(d) e_2 (label 1),
///     x_4 = -epsilon / sqrt(d) e_2 + sqrt(d - epsilon^2 / d) e_3 (label 0).
///
/// All have length sqrt(d), and x_3 x_4 = -epsilon. The maximum-margin line passes all but x_3 at
/// distance 1, and x_3 at 1 + 2 epsilon / d.
///
/// Keys: features (5), epsilon (1/6), fresh (396), seed (0).
class Antipodal final : public Source {
 public:
  explicit Antipodal(Keys keys)
      : features_(keys.integer("features", 5).at_least(5).doc("numbers per record")),
        epsilon_(keys.number("epsilon", 1.0 / 6)
                     .within(0, 1.0 / 3)
                     .doc("minus the product of the third and the fourth point")),
        fresh_(keys.integer("fresh", 396).at_least(0).doc("normal records after the four points")),
        seed_(keys.integer("seed", 0).at_least(0).doc(
            "of the fresh records, whatever the experiment's seed")) {}

  Dataset load() const override {
    const auto stream = Stream(static_cast<uint64_t>(seed_)).at("antipodal");
    const auto x = torch::randn({fresh_, features_}, stream.at("x").generator(), torch::kDouble);
    const auto y = torch::randint(0, 2, {fresh_}, stream.at("y").generator(), torch::kLong);
    return {torch::cat({points(), x}), torch::cat({torch::tensor({1, 1, 1, 0}), y}), 2};
  }

 private:
  Tensor points() const {
    const auto d = static_cast<double>(features_), root = std::sqrt(d);
    const auto e = torch::eye(features_, torch::kDouble);
    return torch::stack({root * e[0], -root * e[0], root * e[1],
                         -epsilon_ / root * e[1] + std::sqrt(d - epsilon_ * epsilon_ / d) * e[2]});
  }

  int64_t features_;
  double epsilon_;
  int64_t fresh_, seed_;
};

IMPRINT_DATASET(Antipodal, "antipodal", "the four points of the separation law's Theorem 3",
                "made up");

}  // namespace
}  // namespace imprint::antipodal
