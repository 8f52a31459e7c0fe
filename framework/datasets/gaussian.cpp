#include "framework/data/dataset.h"
#include "framework/data/stream.h"

namespace imprint::gaussian {
namespace {

/// Normal records; coordinate j has variance j^-decay. Labels are the class whose random mean (at
/// distance `separation` from the origin) was added, or random, or the parity of how many
/// coordinates are positive (no small network learns it). The same records for the same keys.
///
/// Keys: records (4000), features (20), classes (2), labels (class_means), separation (1), decay
/// (0), seed (0).
class Gaussian final : public Source {
 public:
  explicit Gaussian(Keys keys)
      : records_(keys.integer("records", 4000).at_least(4).doc("number of records")),
        features_(keys.integer("features", 20).at_least(1).doc("numbers per record")),
        classes_(keys.integer("classes", 2).at_least(2).doc("number of classes")),
        labels_(keys.choice("labels", {"class_means", "random", "parity"})
                    .doc("the class whose mean was added; random; parity of the positive numbers")),
        separation_(keys.number("separation", 1)
                        .at_least(0)
                        .doc("class_means only: distance of the means from the origin; 0: labels "
                             "are pure noise")),
        decay_(keys.number("decay", 0)
                   .at_least(0)
                   .doc("the variance of number j, counted from 1, is j^-decay")),
        seed_(keys.integer("seed", 0).at_least(0).doc(
            "of the records, whatever the experiment's seed")) {
    if (labels_ == "parity" && classes_ != 2)
      keys.problem("classes", fmt::format("classes must be 2 for parity, not {}", classes_));
  }

  Dataset load() const override {
    const auto stream = Stream(static_cast<uint64_t>(seed_)).at("gaussian");
    const auto y =
        torch::randint(0, classes_, {records_}, stream.at("y").generator(), torch::kLong);
    const auto noise =
        torch::randn({records_, features_}, stream.at("x").generator(), torch::kFloat);
    const auto x = noise * torch::arange(1, features_ + 1, torch::kFloat).pow(-decay_ / 2);
    if (labels_ == "random") return {x, y, classes_};
    if (labels_ == "parity") return {x, x.gt(0).sum(1).remainder(2), classes_};
    auto means = torch::randn({classes_, features_}, stream.at("means").generator(), torch::kFloat);
    means = means / means.norm(2, 1, true) * separation_;
    return {means.index_select(0, y) + x, y, classes_};
  }

 private:
  int64_t records_, features_, classes_;
  std::string labels_;
  double separation_, decay_;
  int64_t seed_;
};

IMPRINT_DATASET(Gaussian, "gaussian", "normal records round class means", "made up");

}  // namespace
}  // namespace imprint::gaussian
