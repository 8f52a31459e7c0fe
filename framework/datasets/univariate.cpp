#include "framework/data/dataset.h"
#include "framework/data/stream.h"

namespace imprint::univariate {
namespace {

/// Points of the line, in float64, whose neighbours lie at least `gap` apart: uniform points of
/// [-1, 1] are drawn given that they do, a grid has equal gaps, and those of normal points and of
/// clusters (normal round evenly spaced centres of [-1, 1]) are all widened by `gap`. Shuffled. The
/// same records for the same keys.
///
/// Keys: records (400), distribution (uniform), clusters (4), spread (0.05), gap (0), labels
/// (alternating), run (1), threshold (0.5), seed (0).
class Univariate final : public Source {
 public:
  explicit Univariate(Keys keys)
      : records_(keys.integer("records", 400).at_least(4).doc("number of records")),
        distribution_(keys.choice("distribution", {"uniform", "normal", "grid", "clusters"})
                          .doc("of the points; uniform and grid on [-1, 1]")),
        clusters_(keys.integer("clusters", 4).at_least(1).doc("clusters only: how many")),
        spread_(keys.number("spread", 0.05).at_least(0).doc("clusters only: their deviation")),
        gap_(keys.number("gap", 0).at_least(0).doc("least distance of two points")),
        labels_(keys.choice("labels", {"alternating", "random", "sign", "threshold"})
                    .doc("alternating: along the line; sign: of the point")),
        run_(keys.integer("run", 1).at_least(1).doc(
            "alternating only: points in a row with the same label")),
        threshold_(keys.number("threshold", 0.5).doc("threshold only: label 1 is above it")),
        seed_(keys.integer("seed", 0).at_least(0).doc(
            "of the records, whatever the experiment's seed")) {
    const auto widest = 2.0 / static_cast<double>(records_ - 1);
    const bool bounded = distribution_ == "uniform" || distribution_ == "grid";
    if (bounded && gap_ > widest)
      keys.problem("gap", fmt::format("gap must be at most {} for {} points of [-1, 1], not {}",
                                      widest, records_, gap_));
  }

  Dataset load() const override {
    const auto stream = Stream(static_cast<uint64_t>(seed_)).at("univariate");
    const auto x = along_the_line(stream);
    const auto y = labels_of(x, stream);
    const auto order = torch::randperm(records_, stream.at("order").generator(), torch::kLong);
    return {x.index_select(0, order).unsqueeze(1), y.index_select(0, order), 2};
  }

 private:
  // The points in ascending order.
  Tensor along_the_line(const Stream& stream) const {
    if (distribution_ == "grid") return torch::linspace(-1, 1, records_, torch::kDouble);
    const auto from = stream.at("x").generator();
    const auto rank = torch::arange(records_, torch::kDouble);
    const auto last = static_cast<double>(records_ - 1);
    // Uniform points that keep their distance are uniform points of what the gaps leave.
    if (distribution_ == "uniform")
      return sorted(torch::rand({records_}, from, torch::kDouble)) * (2 - last * gap_) - 1 +
             rank * gap_;
    auto x = torch::randn({records_}, from, torch::kDouble);
    if (distribution_ == "clusters") x = x * spread_ + centres(stream);
    return sorted(x) + (rank - last / 2) * gap_;
  }

  // The centre of each record's cluster; a single one lies at 0.
  Tensor centres(const Stream& stream) const {
    const auto all = clusters_ == 1 ? torch::zeros({1}, torch::kDouble)
                                    : torch::linspace(-1, 1, clusters_, torch::kDouble);
    return all.index_select(0, torch::randint(0, clusters_, {records_},
                                              stream.at("clusters").generator(), torch::kLong));
  }

  static Tensor sorted(const Tensor& x) { return std::get<0>(x.sort()); }

  // Of points in ascending order.
  Tensor labels_of(const Tensor& x, const Stream& stream) const {
    if (labels_ == "random")
      return torch::randint(0, 2, {records_}, stream.at("y").generator(), torch::kLong);
    if (labels_ == "alternating") return torch::arange(records_).floor_divide(run_).remainder(2);
    return x.gt(labels_ == "sign" ? 0 : threshold_).to(torch::kLong);
  }

  int64_t records_;
  std::string distribution_;
  int64_t clusters_;
  double spread_, gap_;
  std::string labels_;
  int64_t run_;
  double threshold_;
  int64_t seed_;
};

IMPRINT_DATASET(Univariate, "univariate", "points of the line, for reconstruction", "made up");

}  // namespace
}  // namespace imprint::univariate
