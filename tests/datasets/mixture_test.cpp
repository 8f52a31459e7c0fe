#include "tests/support/fixtures.h"

namespace imprint::mixture_test {
namespace {

TEST(Mixture, HasItsClustersWhereMuSays) {
  const auto data = dataset_of("{name: mixture, records: 8000, features: 4, mu: 3}");
  const auto x = data.x.all(), sign = (2 * data.y - 1).to(torch::kDouble);
  EXPECT_EQ(x.scalar_type(), torch::kDouble);
  EXPECT_NEAR(sign.mean().item<double>(), 0, 0.05);
  const auto rest = x - torch::outer(3 * sign, torch::eye(4, torch::kDouble)[0]);
  EXPECT_LT(rest.mean(0).abs().max().item<double>(), 0.05);
  EXPECT_LT((rest.std(0) - 1).abs().max().item<double>(), 0.04);
  // The same noise, wherever the clusters lie.
  EXPECT_LT((dataset_of("{name: mixture, records: 8000, features: 4, mu: 0}").x.all() - rest)
                .abs()
                .max()
                .item<double>(),
            1e-14);
}

TEST(Mixture, GrowsWithTheFeaturesByDefault) {  // 1000^0.33 = 9.772
  const auto data = dataset_of("{name: mixture, records: 400, features: 1000}");
  const auto along = data.x.all().select(1, 0) * (2 * data.y - 1);
  EXPECT_NEAR(along.mean().item<double>(), 9.772, 0.2);
}

TEST(Mixture, OfThePublishedCodeIsOneClusterWithOneLabel) {
  const auto data =
      dataset_of("{name: mixture, records: 2000, features: 4, mu: 3, variant: reference}");
  EXPECT_TRUE(data.y.eq(1).all().item<bool>());
  EXPECT_EQ(data.classes, 2);
  EXPECT_NEAR(data.x.all().select(1, 0).mean().item<double>(), 3, 0.1);
  EXPECT_NEAR(data.x.all().select(1, 0).std().item<double>(), 1, 0.06);
}

TEST(Mixture, IsTheSameEveryTime) {
  EXPECT_EQ(dataset_of("mixture").digest(), dataset_of("mixture").digest());
  EXPECT_NE(dataset_of("mixture").digest(), dataset_of("{name: mixture, seed: 1}").digest());
}

TEST(Mixture, RefusesWrongKeys) {
  expect_config_error("dataset", "{name: mixture, mu: -1}", "mu must be at least 0, not -1");
  expect_config_error("dataset", "{name: mixture, variant: broken}",
                      "variant must be one of correct, reference, not 'broken'");
}

}  // namespace
}  // namespace imprint::mixture_test
