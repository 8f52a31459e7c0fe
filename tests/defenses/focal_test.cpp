#include <cmath>

#include "tests/support/fixtures.h"

namespace imprint::focal_test {
namespace {

TEST(Focal, EqualsPlainTrainingWhenGammaIsZero) {
  expect_same_training("{name: focal, gamma: 0}", "none");
}

TEST(Focal, MatchesHandValues) {
  // gamma = 2: 0.1^2 (-log 0.9), 0.5^2 log 2, 0.9^2 (-log 0.1); gamma = 1: 0.5 log 2
  EXPECT_NEAR(loss_of("focal", 0.9), 0.00105361, 1e-8);
  EXPECT_NEAR(loss_of("focal", 0.5), 0.173287, 1e-6);
  EXPECT_NEAR(loss_of("focal", 0.1), 1.865094, 1e-6);
  EXPECT_NEAR(loss_of("{name: focal, gamma: 1}", 0.5), 0.346574, 1e-6);
}

TEST(Focal, GradientIsTheCrossEntropyGradientTimesItsMultiplier) {
  // m = (1 - p)^(gamma - 1) ((1 - p) + gamma p l)
  const StillStep still(model_of("{name: linear}", {{2}, 2, 0}), small_split(4, 2, 2), 1);
  const auto step = still.step();
  for (const double gamma : {0.5, 1.0, 2.0, 5.0}) {
    auto chain = chain_of(fmt::format("{{name: focal, gamma: {}}}", gamma));
    for (const double p : {0.1, 0.5, 0.9}) {
      auto logits = confidences({p}).requires_grad_();
      const Batch batch{zeros(1), torch::zeros({1, 2}), zeros(1), {}};
      chain.loss(BaseLoss("cross_entropy")(logits, batch, 1), logits, batch, step).sum().backward();
      const auto m = std::pow(1 - p, gamma - 1) * ((1 - p) - gamma * p * std::log(p));
      EXPECT_NEAR(logits.grad()[0][0].item<double>(), m * (p - 1), 1e-9);
      EXPECT_NEAR(logits.grad()[0][1].item<double>(), m * (1 - p), 1e-9);
    }
  }
}

TEST(Focal, HasAGradientForARecordThatIsCertain) {
  // In float32 the confidence is exactly 1, where (1 - p)^(gamma - 1) would be infinite.
  auto chain = chain_of("{name: focal, gamma: 0.5}");
  const StillStep still(model_of("{name: linear}", {{2}, 2, 0}), small_split(4, 2, 2), 1);
  const auto logits = torch::tensor({{200.F, 0.F}}, torch::requires_grad());
  const Batch batch{zeros(1), torch::zeros({1, 2}), zeros(1), {}};
  const auto step = still.step();
  chain.loss(BaseLoss("cross_entropy")(logits, batch, 1), logits, batch, step).sum().backward();
  EXPECT_TRUE(torch::equal(logits.grad(), torch::zeros({1, 2})));
}

TEST(Focal, RefusesANegativeGamma) {
  expect_config_error("defense", "{name: focal, gamma: -1}", "gamma must be at least 0, not -1");
}

}  // namespace
}  // namespace imprint::focal_test
