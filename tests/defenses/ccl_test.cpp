#include <cmath>
#include <map>

#include "tests/support/fixtures.h"

namespace imprint::ccl_test {
namespace {

// m in d loss / dz = m (p - one-hot), by autograd, at the confidence p.
double multiplier(const std::string& yaml, double p) {
  auto chain = chain_of(yaml);
  auto logits = confidences({p}).requires_grad_();
  const Batch batch{zeros(1), torch::zeros({1, 2}), zeros(1), {}};
  const StillStep still(model_of("{name: linear}", {{2}, 2, 0}), small_split(4, 2, 2), 1);
  const auto step = still.step();
  chain.loss(BaseLoss("cross_entropy")(logits, batch, 1), logits, batch, step).sum().backward();
  const auto slope = logits.grad()[0];
  EXPECT_NEAR(slope[0].item<double>(), -slope[1].item<double>(), 1e-12);
  return slope[0].item<double>() / (p - 1);
}

std::string ccl(double alpha, const std::string& more = "") {
  return fmt::format("{{name: ccl, alpha: {}{}}}", alpha, more);
}

TEST(Ccl, EqualsCrossEntropyWhenAlphaIsOne) {
  expect_same_training("{name: ccl, alpha: 1}", "{name: none}");
  expect_same_training("{name: ccl, alpha: 1, concave: quadratic}", "{name: none}");
  expect_same_training("{name: ccl, alpha: 1, convex: focal, gamma: 0}", "{name: none}");
}

TEST(Ccl, EqualsFocalLossWhenAlphaIsOne) {
  expect_same_training("{name: ccl, convex: focal, alpha: 1, gamma: 3}", "{name: focal, gamma: 3}");
}

TEST(Ccl, MatchesHandValues) {
  // alpha = 0.5, p = 0.5: 0.5 log 2 - 0.5 e^0.5; quadratic: 0.5 log 2 - 0.5 (0.5 + 0.125)
  const std::string quadratic = ", concave: quadratic";
  EXPECT_NEAR(loss_of(ccl(0.5), 0.1), 0.598707, 1e-6);
  EXPECT_NEAR(loss_of(ccl(0.5, quadratic), 0.1), 1.098793, 1e-6);
  EXPECT_NEAR(loss_of(ccl(0.5), 0.5), -0.477787, 1e-6);
  EXPECT_NEAR(loss_of(ccl(0.5, quadratic), 0.5), 0.034074, 1e-6);
  EXPECT_NEAR(loss_of(ccl(0.5), 0.9), -1.177121, 1e-6);
  EXPECT_NEAR(loss_of(ccl(0.5, quadratic), 0.9), -0.599820, 1e-6);
  EXPECT_NEAR(loss_of(ccl(0.2), 0.9), -1.946610, 1e-6);
  EXPECT_NEAR(loss_of(ccl(0.2, quadratic), 0.9), -1.022928, 1e-6);
  EXPECT_NEAR(loss_of(ccl(0.8), 0.5), 0.224773, 1e-6);
  EXPECT_NEAR(loss_of(ccl(0.8, quadratic), 0.5), 0.429518, 1e-6);
}

TEST(Ccl, WithFocalMatchesHandValues) {
  // p = 0.9, gamma = 2: 0.1^2 (-log 0.9) = 0.00105361; with the concave term half of it - e^0.9 / 2
  EXPECT_NEAR(loss_of(ccl(1, ", convex: focal"), 0.9), 0.00105361, 1e-8);
  EXPECT_NEAR(loss_of(ccl(0.5, ", convex: focal"), 0.9), -1.229275, 1e-6);
  EXPECT_NEAR(loss_of(ccl(0.5, ", convex: focal, concave: quadratic"), 0.9), -0.651973, 1e-6);
}

TEST(Ccl, BetaScalesTheWholeLoss) {
  EXPECT_NEAR(loss_of("{name: ccl, alpha: 0.5, beta: 0.01}", 0.5), -0.00477787, 1e-8);
  EXPECT_NEAR(loss_of("{name: ccl, alpha: 0.5, beta: 0.01, convex: focal}", 0.9), -0.01229275,
              1e-8);
  // The control: cross-entropy times beta.
  EXPECT_NEAR(loss_of("{name: ccl, alpha: 1, beta: 0.01}", 0.5), 0.01 * std::log(2), 1e-12);
}

TEST(Ccl, GradientIsTheCrossEntropyGradientTimesItsMultiplier) {
  const std::string quadratic = ", concave: quadratic";
  EXPECT_NEAR(multiplier(ccl(0.5), 0.1), 0.555259, 1e-6);
  EXPECT_NEAR(multiplier(ccl(0.5, quadratic), 0.1), 0.555000, 1e-6);
  EXPECT_NEAR(multiplier(ccl(0.5), 0.5), 0.912180, 1e-6);
  EXPECT_NEAR(multiplier(ccl(0.5, quadratic), 0.5), 0.875000, 1e-6);
  EXPECT_NEAR(multiplier(ccl(0.5), 0.9), 1.606821, 1e-6);
  EXPECT_NEAR(multiplier(ccl(0.5, quadratic), 0.9), 1.355000, 1e-6);
  EXPECT_NEAR(multiplier(ccl(0.2), 0.9), 1.970914, 1e-6);
  EXPECT_NEAR(multiplier(ccl(0.2, quadratic), 0.9), 1.568000, 1e-6);
  EXPECT_NEAR(multiplier(ccl(0.8), 0.5), 0.964872, 1e-6);
  EXPECT_NEAR(multiplier(ccl(0.8, quadratic), 0.5), 0.950000, 1e-6);
}

TEST(Ccl, WithFocalPullsEveryRecordTowardsItsLabel) {
  // m = alpha (1 - p)^(gamma - 1) ((1 - p) + gamma p l) + (1 - alpha) p e^p: above 0 everywhere, so
  // that the smallest loss is at p = 1.
  for (const double alpha : {0.2, 0.4, 0.6, 0.8}) {
    for (const double p : {0.05, 0.3, 0.5, 0.7, 0.99}) {
      const double gamma = 2, l = -std::log(p);
      const double expected = alpha * std::pow(1 - p, gamma - 1) * ((1 - p) + gamma * p * l) +
                              (1 - alpha) * p * std::exp(p);
      const auto m = multiplier(ccl(alpha, ", convex: focal"), p);
      EXPECT_NEAR(m, expected, 1e-9);
      EXPECT_GT(m, 0);
    }
  }
}

TEST(Ccl, FlippedCapsTheConfidence) {
  // p = 0.5: 0.5 log 2 + 0.5 e^0.5. With focal loss the smallest loss lies where m changes its
  // sign.
  EXPECT_NEAR(loss_of(ccl(0.5, ", concave: flipped"), 0.5), 1.170934, 1e-6);
  const std::map<double, double> caps{{0.2, 0.22}, {0.4, 0.38}, {0.6, 0.51}, {0.8, 0.65}};
  for (const auto& [alpha, cap] : caps) {
    const auto flipped = ccl(alpha, ", convex: focal, concave: flipped");
    EXPECT_GT(multiplier(flipped, cap - 0.01), 0) << alpha;
    EXPECT_LT(multiplier(flipped, cap + 0.01), 0) << alpha;
  }
}

TEST(Ccl, RefusesWithTheExactMessage) {
  expect_config_error("defense", "{name: ccl, alpha: 1.5}",
                      "alpha must be between 0 and 1, not 1.5");
  expect_config_error("defense", "{name: ccl, beta: 0}", "beta must be above 0, not 0");
  expect_config_error("defense", "{name: ccl, gamma: -1}", "gamma must be at least 0, not -1");
  expect_config_error("defense", "{name: ccl, concave: quadratc}",
                      "concave must be one of exponential, quadratic, flipped, not 'quadratc'; did "
                      "you mean 'quadratic'?");
  expect_config_error(
      "defense", "{name: ccl, convex: focl}",
      "convex must be one of cross_entropy, focal, not 'focl'; did you mean 'focal'?");
  expect_config_error("defense", "{name: ccl, alhpa: 1}",
                      "unknown key 'alhpa' in defense 'ccl'; did you mean 'alpha'? (keys: alpha, "
                      "beta, concave, convex, gamma, label, name, with)");
}

}  // namespace
}  // namespace imprint::ccl_test
