#include "tests/support/fixtures.h"

namespace imprint::univariate_test {
namespace {

// Points and labels along the line.
std::pair<Tensor, Tensor> along(const std::string& keys) {
  const auto data = dataset_of("{name: univariate, " + keys + "}");
  EXPECT_EQ(data.x.shape(), std::vector<int64_t>({1}));
  EXPECT_EQ(data.x.type(), torch::kDouble);
  const auto [x, order] = data.x.all().squeeze(1).sort();
  return {x, data.y.index_select(0, order)};
}

double least_gap(const Tensor& x) { return x.diff().min().item<double>(); }

TEST(Univariate, KeepsItsPointsApart) {
  for (const auto* distribution : {"uniform", "normal", "grid", "clusters"}) {
    const auto x =
        along(fmt::format("records: 150, gap: 0.01, distribution: {}", distribution)).first;
    EXPECT_EQ(x.size(0), 150);
    EXPECT_GE(least_gap(x), 0.01 - 1e-12) << distribution;
  }
  // No room is left: a grid.
  const auto tight = along("records: 5, gap: 0.5").first;
  EXPECT_TRUE(torch::allclose(tight, torch::tensor({-1.0, -0.5, 0.0, 0.5, 1.0}, torch::kDouble)));
}

TEST(Univariate, HasTheDistributionItSays) {
  const auto uniform = along("records: 4000, gap: 0.0002").first;
  EXPECT_GE(uniform.min().item<double>(), -1);
  EXPECT_LE(uniform.max().item<double>(), 1);
  // Quantiles of the uniform distribution on the whole range, gap or not.
  EXPECT_NEAR(uniform[1000].item<double>(), -0.5, 0.05);
  EXPECT_NEAR(uniform[3000].item<double>(), 0.5, 0.05);
  const auto normal = along("records: 4000, distribution: normal").first;
  EXPECT_NEAR(normal.mean().item<double>(), 0, 0.06);
  EXPECT_NEAR(normal.std().item<double>(), 1, 0.05);
  const auto grid = along("records: 5, distribution: grid").first;
  EXPECT_TRUE(torch::equal(grid, torch::tensor({-1.0, -0.5, 0.0, 0.5, 1.0}, torch::kDouble)));
  const auto clusters = along("records: 400, distribution: clusters, clusters: 3, spread: 0").first;
  EXPECT_TRUE(clusters.mul(clusters).sub(1).mul(clusters).eq(0).all().item<bool>());  // -1, 0, 1
  EXPECT_TRUE(
      along("distribution: clusters, clusters: 1, spread: 0").first.eq(0).all().item<bool>());
}

TEST(Univariate, LabelsAlongTheLine) {
  const auto labels = [](const std::string& keys) {
    return along("records: 6, distribution: grid, " + keys).second;
  };
  EXPECT_TRUE(torch::equal(labels("labels: alternating"), torch::tensor({0, 1, 0, 1, 0, 1})));
  EXPECT_TRUE(torch::equal(labels("run: 2"), torch::tensor({0, 0, 1, 1, 0, 0})));
  EXPECT_TRUE(torch::equal(labels("labels: sign"), torch::tensor({0, 0, 0, 1, 1, 1})));
  EXPECT_TRUE(torch::equal(labels("labels: threshold"), torch::tensor({0, 0, 0, 0, 1, 1})));
  EXPECT_TRUE(torch::equal(labels("labels: threshold, threshold: -0.7"),
                           torch::tensor({0, 1, 1, 1, 1, 1})));
  EXPECT_NEAR(
      along("records: 4000, labels: random").second.to(torch::kDouble).mean().item<double>(), 0.5,
      0.04);
}

TEST(Univariate, IsShuffledAndTheSameEveryTime) {
  const auto data = dataset_of("univariate");
  EXPECT_LT(data.x.all().squeeze(1).diff().min().item<double>(), 0);
  EXPECT_EQ(data.digest(), dataset_of("univariate").digest());
  EXPECT_NE(data.digest(), dataset_of("{name: univariate, seed: 1}").digest());
}

TEST(Univariate, RefusesWrongKeys) {
  expect_config_error("dataset", "{name: univariate, records: 5, gap: 0.6}",
                      "gap must be at most 0.5 for 5 points of [-1, 1], not 0.6");
  expect_config_error("dataset", "{name: univariate, distribution: cauchy}",
                      "distribution must be one of uniform, normal, grid, clusters, not 'cauchy'");
  expect_config_error("dataset", "{name: univariate, run: 0}", "run must be at least 1, not 0");
}

}  // namespace
}  // namespace imprint::univariate_test
