#include "tests/support/fixtures.h"

namespace imprint::loss_distribution_test {
namespace {

TEST(LossDistribution, MatchesHandValues) {
  // p = 0.5, 0.25: losses 0.693147, 1.386294: mean 1.039721, population variance 0.120113
  const auto m = measured("loss_distribution", confidences({0.5, 0.25}), zeros(2));
  EXPECT_NEAR(m.at("train_loss_mean"), 1.039721, 1e-6);
  EXPECT_NEAR(m.at("train_loss_variance"), 0.120113, 1e-6);
  EXPECT_NEAR(m.at("test_loss_mean"), 1.039721, 1e-6);
  // Entropies 0.693147 and 0.562335.
  EXPECT_NEAR(m.at("train_entropy_mean"), 0.627741, 1e-6);
}

TEST(LossDistribution, BoundOfTheoremThreeOneHolds) {
  // eps = 1 - 0.375 = 0.625, sigma^2 = 0.015625: 0.625 + (0.390625 + 0.015625)/2 = 0.828125
  // <= 1.039721
  const auto m = measured("loss_distribution", confidences({0.5, 0.25}), zeros(2));
  EXPECT_NEAR(m.at("loss_bound"), 0.828125, 1e-9);
  EXPECT_LE(m.at("loss_bound"), m.at("train_loss_mean"));
}

TEST(LossDistribution, PredictsNoAdvantageForEqualDistributions) {
  const auto m = measured("loss_distribution", confidences({0.5, 0.25, 0.9}), zeros(3));
  EXPECT_NEAR(m.at("gaussian_advantage"), 0, 1e-9);
  EXPECT_NEAR(m.at("yeom_advantage"), 0, 1e-12);
}

}  // namespace
}  // namespace imprint::loss_distribution_test
