#include "tests/support/fixtures.h"

namespace imprint::ccl_test {
namespace {

TEST(Ccl, EqualsCrossEntropyWhenAlphaIsOne) {
  expect_same_training("{name: ccl, alpha: 1}", "{name: none}");
}

TEST(Ccl, MatchesHandValues) {
  // alpha = 0.5, p = 0.5: 0.5 log 2 - 0.5 e^0.5; quadratic: 0.5 log 2 - 0.5 (0.5 + 0.125)
  EXPECT_NEAR(loss_of("{name: ccl, alpha: 0.5}", 0.5), -0.477787, 1e-6);
  EXPECT_NEAR(loss_of("{name: ccl, alpha: 0.5, concave: quadratic}", 0.5), 0.034074, 1e-6);
  EXPECT_NEAR(loss_of("{name: ccl, alpha: 0.5}", 0.1), 0.598707, 1e-6);
  EXPECT_NEAR(loss_of("{name: ccl, alpha: 0.5, concave: quadratic}", 0.1), 1.098793, 1e-6);
  EXPECT_NEAR(loss_of("{name: ccl, alpha: 0.2}", 0.9), -1.946610, 1e-6);
  EXPECT_NEAR(loss_of("{name: ccl, alpha: 0.2, concave: quadratic}", 0.9), -1.022928, 1e-6);
}

TEST(Ccl, BetaScalesTheWholeLoss) {
  EXPECT_NEAR(loss_of("{name: ccl, alpha: 0.5, beta: 0.01}", 0.5), -0.00477787, 1e-8);
}

TEST(Ccl, GradientIsTheCrossEntropyGradientTimesItsMultiplier) {
  // alpha = 0.5: m = 0.5 + 0.5 p e^p, at p = 0.9 1.606821; dCE/dz_y = p - 1
  auto chain = chain_of("{name: ccl, alpha: 0.5}");
  auto logits = confidences({0.9}).requires_grad_();
  const Batch batch{zeros(1), torch::zeros({1, 2}), zeros(1), {}};
  const auto split = small_split(4, 2, 2);
  const auto model = model_of("{name: linear}", {{2}, 2, 0});
  const StillStep still(model, split, 1);
  const auto step = still.step();
  chain.loss(BaseLoss("cross_entropy")(logits, batch, 1), logits, batch, step).sum().backward();
  EXPECT_NEAR(logits.grad()[0][0].item<double>(), 1.606821 * (0.9 - 1), 1e-6);
  EXPECT_NEAR(logits.grad()[0][1].item<double>(), 1.606821 * 0.1, 1e-6);
}

TEST(Ccl, RefusesAlphaOutsideItsRange) {
  expect_config_error("defense", "{name: ccl, alpha: 1.5}",
                      "alpha must be between 0 and 1, not 1.5");
  expect_config_error("defense", "{name: ccl, beta: 0}", "beta must be above 0, not 0");
  expect_config_error(
      "defense", "{name: ccl, concave: quadratc}",
      "concave must be one of exponential, quadratic, not 'quadratc'; did you mean 'quadratic'?");
  expect_config_error("defense", "{name: ccl, alhpa: 1}",
                      "unknown key 'alhpa' in defense 'ccl'; did you mean 'alpha'? (keys: alpha, "
                      "beta, concave, label, name, with)");
}

}  // namespace
}  // namespace imprint::ccl_test
