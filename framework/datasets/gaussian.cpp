#include "framework/data/dataset.h"
#include "framework/data/stream.h"

namespace imprint::gaussian {
namespace {

/// Standard normal records; labels are random, or given by the class whose random mean (at distance
/// `separation` from the origin) was added. The same records for the same keys.
///
/// Keys: records (4000), features (20), classes (2), separation (1), seed (0).
class Gaussian final : public Source {
 public:
  explicit Gaussian(Keys keys)
      : records_(keys.integer("records", 4000).at_least(4).doc("number of records")),
        features_(keys.integer("features", 20).at_least(1).doc("numbers per record")),
        classes_(keys.integer("classes", 2).at_least(2).doc("number of classes")),
        separation_(keys.number("separation", 1)
                        .at_least(0)
                        .doc("distance of class means from the origin; 0: labels are pure noise")),
        seed_(keys.integer("seed", 0).at_least(0).doc(
            "of the records, whatever the experiment's seed")) {}

  Dataset load() const override {
    const auto stream = Stream(static_cast<uint64_t>(seed_)).at("gaussian");
    const auto y =
        torch::randint(0, classes_, {records_}, stream.at("y").generator(), torch::kLong);
    auto means = torch::randn({classes_, features_}, stream.at("means").generator(), torch::kFloat);
    means = means / means.norm(2, 1, true) * separation_;
    const auto noise =
        torch::randn({records_, features_}, stream.at("x").generator(), torch::kFloat);
    return {means.index_select(0, y) + noise, y, classes_};
  }

 private:
  int64_t records_, features_, classes_;
  double separation_;
  int64_t seed_;
};

IMPRINT_DATASET(Gaussian, "gaussian", "normal records round class means", "made up");

}  // namespace
}  // namespace imprint::gaussian
