#include <cmath>

#include "framework/data/dataset.h"
#include "framework/data/stream.h"

namespace imprint::mixture {
namespace {

/// Two normal clusters round +mu e_1 and -mu e_1, in float64; the label is the sign. The variant
/// `reference` is what the published code of arXiv 2410.07632 samples: its index steps by ten, so
/// that "every second record" is every record, and there is one cluster with one label. The same
/// records for the same keys.
///
/// Keys: records (4000), features (20), mu (features^0.33), variant (correct), seed (0).
class Mixture final : public Source {
 public:
  explicit Mixture(Keys keys)
      : records_(keys.integer("records", 4000).at_least(4).doc("number of records")),
        features_(keys.integer("features", 20).at_least(1).doc("numbers per record")),
        mu_(keys.number("mu", std::pow(static_cast<double>(features_), 0.33))
                .at_least(0)
                .doc("distance of the clusters from the origin; by default features^0.33")),
        variant_(keys.choice("variant", {"correct", "reference"})
                     .doc("reference: one cluster with label 1, as the published code has it")),
        seed_(keys.integer("seed", 0).at_least(0).doc(
            "of the records, whatever the experiment's seed")) {}

  Dataset load() const override {
    const auto stream = Stream(static_cast<uint64_t>(seed_)).at("mixture");
    const auto drawn = torch::randint(0, 2, {records_}, stream.at("y").generator(), torch::kLong);
    const auto y = variant_ == "correct" ? drawn : torch::ones_like(drawn);
    const auto x = torch::randn({records_, features_}, stream.at("x").generator(), torch::kDouble);
    x.select(1, 0).add_(2 * y - 1, mu_);
    return {x, y, 2};
  }

 private:
  int64_t records_, features_;
  double mu_;
  std::string variant_;
  int64_t seed_;
};

IMPRINT_DATASET(Mixture, "mixture", "two normal clusters, or the one of the published code",
                "made up");

}  // namespace
}  // namespace imprint::mixture
