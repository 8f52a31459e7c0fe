#include <cmath>

#include "tests/support/fixtures.h"

namespace imprint::confidence_penalty_test {
namespace {

TEST(ConfidencePenalty, EqualsPlainTrainingWhenWeightIsZero) {
  expect_same_training("{name: confidence_penalty, weight: 0}", "none");
}

TEST(ConfidencePenalty, MatchesHandValues) {
  // p = 0.8: -log 0.8 = 0.223144, H = -0.8 log 0.8 - 0.2 log 0.2 = 0.500402
  EXPECT_NEAR(loss_of("confidence_penalty", 0.8), 0.173104, 1e-6);
  EXPECT_NEAR(loss_of("{name: confidence_penalty, weight: 2}", 0.8), -0.777661, 1e-6);
}

TEST(ConfidencePenalty, MatchesTheSlowDefinitionAndItsGradient) {
  // d (-H) / dz_k = p_k (log p_k + H), beside p - one-hot of the cross-entropy.
  const auto split = small_split(8, 2, 4);
  const StillStep still(model_of("{name: linear}", {{2}, 4, 0}), split, 1);
  auto chain = chain_of("{name: confidence_penalty, weight: 0.7}");
  auto logits = 2 * torch::randn({8, 4}, Stream(3).generator(), torch::kDouble);
  logits.requires_grad_();
  const Batch batch{torch::arange(8), {}, split.train.y, {}};
  const auto step = still.step();
  const auto losses = chain.loss(BaseLoss("cross_entropy")(logits, batch, 1), logits, batch, step);
  losses.sum().backward();
  for (int64_t i = 0; i < 8; ++i) {
    const auto y = split.train.y[i].item<int64_t>();
    const auto p = logits[i].detach().softmax(0);
    double entropy = 0;
    for (int64_t k = 0; k < 4; ++k) entropy -= p[k].item<double>() * std::log(p[k].item<double>());
    EXPECT_NEAR(losses[i].item<double>(), -std::log(p[y].item<double>()) - 0.7 * entropy, 1e-12);
    for (int64_t k = 0; k < 4; ++k) {
      const auto share = p[k].item<double>();
      const auto slope = share - (k == y ? 1 : 0) + 0.7 * share * (std::log(share) + entropy);
      EXPECT_NEAR(logits.grad()[i][k].item<double>(), slope, 1e-12);
    }
  }
}

TEST(ConfidencePenalty, MakesAnswersLessCertain) {
  const auto split = small_split();
  const auto entropy = [&](const std::string& chain) {
    const auto model = train_small(chain, split, "{epochs: 30}").model;
    const auto log_p =
        queried_logits(*model, {}, split.train.x, torch::kFloat32, torch::kCPU).log_softmax(1);
    return -(log_p.exp() * log_p).sum(1).mean().item<double>();
  };
  EXPECT_GT(entropy("{name: confidence_penalty, weight: 1}"), 2 * entropy("none"));
}

TEST(ConfidencePenalty, WorksWithOneOutput) {
  const std::string train = "{loss: logistic, epochs: 20}";
  const auto rows =
      train_small("{name: confidence_penalty, weight: 0.1}", small_split(60, 6, 2), train).rows;
  EXPECT_LT(rows.back().loss, rows.front().loss);
}

TEST(ConfidencePenalty, RefusesANegativeWeight) {
  expect_config_error("defense", "{name: confidence_penalty, weight: -0.1}",
                      "weight must be at least 0, not -0.1");
}

}  // namespace
}  // namespace imprint::confidence_penalty_test
