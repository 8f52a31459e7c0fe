#include <cmath>

#include "tests/support/fixtures.h"
#include "tests/support/refusals.h"

namespace imprint::relaxloss_test {
namespace {

// Two records of class 0 of three: one classified rightly, one wrongly. Their losses are 0.356675
// and 1.203973, the mean 0.780324.
Tensor two_answers() {
  return torch::tensor({{0.7, 0.2, 0.1}, {0.3, 0.6, 0.1}}, torch::kDouble).log();
}

Tensor loss_in(int64_t epoch, const std::string& yaml, const Tensor& logits = two_answers()) {
  auto chain = chain_of(yaml);
  const auto n = logits.size(0);
  const StillStep still(model_of("{name: linear}", {{2}, 3, 0}), small_split(4, 2, 3), 1);
  auto step = still.step();
  step.epoch = epoch;
  step.epochs = 300;
  const Batch batch{torch::arange(n), {}, zeros(n), {}};
  return chain.loss(BaseLoss("cross_entropy")(logits, batch, 1), logits, batch, step);
}

double value_in(int64_t epoch, const std::string& yaml) {
  const auto loss = loss_in(epoch, yaml);
  EXPECT_EQ(loss.dim(), 0);
  return loss.item<double>();
}

TEST(RelaxLoss, EqualsPlainTrainingWhenAlphaIsZero) {
  expect_same_training("{name: relaxloss, alpha: 0}", "none");
  expect_same_training("{name: relaxloss, alpha: 0, mode: flooding}", "none");
}

TEST(RelaxLoss, InEvenEpochsIsTheDistanceFromAlpha) {
  for (const int64_t epoch : {0, 2, 298}) {
    EXPECT_NEAR(value_in(epoch, "{name: relaxloss, alpha: 1}"), 1 - 0.780324, 1e-6);
    EXPECT_NEAR(value_in(epoch, "{name: relaxloss, alpha: 0.5}"), 0.780324 - 0.5, 1e-6);
  }
}

TEST(RelaxLoss, InOddEpochsIsTheMeanAboveAlpha) {
  for (const int64_t epoch : {1, 3, 299})
    EXPECT_NEAR(value_in(epoch, "{name: relaxloss, alpha: 0.5}"), 0.780324, 1e-6);
}

TEST(RelaxLoss, InOddEpochsFlattensBelowAlpha) {
  // Soft labels (0.7, 0.15, 0.15) and (0.3, 0.35, 0.35): CE_t = 0.836476 and 1.345886, of which the
  // first record is classified rightly. For images (1.345886 - 0.356675 - 1.203973) / 2.
  EXPECT_NEAR(value_in(1, "{name: relaxloss, alpha: 1}"), -0.107381, 1e-6);
  EXPECT_NEAR(value_in(1, "{name: relaxloss, alpha: 1, flatten: tabular}"), 1.091181, 1e-6);
  // Upper 0.5 makes the first (0.5, 0.25, 0.25): CE_t = 1.156343.
  EXPECT_NEAR(value_in(1, "{name: relaxloss, alpha: 1, upper: 0.5}"), -0.107381, 1e-6);
  EXPECT_NEAR(value_in(1, "{name: relaxloss, alpha: 1, upper: 0.5, flatten: tabular}"), 1.251114,
              1e-6);
}

TEST(RelaxLoss, FloodingNeverFlattens) {
  for (const int64_t epoch : {0, 1})
    EXPECT_NEAR(value_in(epoch, "{name: relaxloss, alpha: 1, mode: flooding}"), 1 - 0.780324, 1e-6);
  EXPECT_NEAR(value_in(1, "{name: relaxloss, alpha: 0.5, mode: flooding}"), 0.780324 - 0.5, 1e-6);
}

TEST(RelaxLoss, AscendsBelowAlphaAndDescendsAbove) {
  const auto slope = [](const std::string& alpha) {
    auto logits = two_answers().requires_grad_();
    loss_in(0, "{name: relaxloss, alpha: " + alpha + "}", logits).backward();
    return logits.grad();
  };
  const auto plain =
      (two_answers().softmax(1) - torch::tensor({1.0, 0.0, 0.0}, torch::kDouble)) / 2;
  EXPECT_TRUE(torch::allclose(slope("0.5"), plain));
  EXPECT_TRUE(torch::allclose(slope("1"), -plain));
}

// d CE_t / dz of one record of class 0. With t fixed: p - t, the soft labels t. Through t_0 = p_0
// below `upper` there are d CE_t / dt_0 = -log p_0 + mean of the others' log p, and
// dt_0 / dz_k = p_0 ([k = 0] - p_k).
Tensor soft_slope(const Tensor& z, double upper, bool detached) {
  const auto log_p = z.log_softmax(0);
  const auto p = log_p.exp();
  const auto own = p[0].item<double>();
  const auto t = std::min(own, upper);
  const auto others = static_cast<double>(z.size(0) - 1);
  auto targets = torch::full_like(z, (1 - t) / others);
  targets[0] = t;
  auto slope = p - targets;
  if (detached || own > upper) return slope;
  const auto by_target = -log_p[0].item<double>() + log_p.slice(0, 1).sum().item<double>() / others;
  auto moved = -p[0] * p;
  moved[0] += p[0];
  return slope + by_target * moved;
}

TEST(RelaxLoss, FlatteningHasTheGradientOfTheSlowDefinition) {
  const auto z = 2 * torch::randn({9, 3}, Stream(4).generator(), torch::kDouble);
  for (const bool tabular : {false, true}) {
    for (const bool detached : {false, true}) {
      auto logits = z.clone().requires_grad_();
      loss_in(1,
              fmt::format("{{name: relaxloss, alpha: 100, upper: 0.6, flatten: {}, detach: {}}}",
                          tabular ? "tabular" : "image", detached),
              logits)
          .backward();
      for (int64_t i = 0; i < 9; ++i) {
        auto expected = soft_slope(z[i], 0.6, detached);
        if (!tabular) {
          if (z[i].argmax().item<int64_t>() == 0) expected.zero_();
          auto plain = z[i].softmax(0);
          plain[0] -= 1;
          expected = expected - plain;
        }
        EXPECT_TRUE(torch::allclose(logits.grad()[i], expected / 9, 1e-9, 1e-12)) << i;
      }
    }
  }
}

TEST(RelaxLoss, EndsItsChain) {
  expect_same_training("[{name: relaxloss, alpha: 0.3}, {name: ccl, alpha: 0.5}]",
                       "{name: relaxloss, alpha: 0.3}");
}

TEST(RelaxLoss, KeepsTheTrainingLossNearAlpha) {
  const auto split = small_split();
  const auto mean_loss = [&](const std::string& chain) {
    const auto model = train_small(chain, split, "{epochs: 60, optimizer: {momentum: 0}}").model;
    const auto logits = queried_logits(*model, {}, split.train.x, torch::kFloat32, torch::kCPU);
    return BaseLoss("cross_entropy")(logits, {{}, {}, split.train.y, {}}, 1).mean().item<double>();
  };
  EXPECT_LT(mean_loss("none"), 0.1);
  for (const auto* mode : {"relaxloss", "flooding"})
    EXPECT_NEAR(mean_loss(fmt::format("{{name: relaxloss, alpha: 0.5, mode: {}}}", mode)), 0.5, 0.2)
        << mode;
}

TEST(RelaxLoss, GoesOnFromACheckpointToTheSameBits) {
  expect_resumes("{name: relaxloss, alpha: 0.8}");
  expect_resumes("{name: relaxloss, alpha: 0.8, upper: 0.3, flatten: tabular, detach: true}");
}

TEST(RelaxLoss, SurvivesABatchThatDrewNobody) {
  const auto rows =
      train_small("relaxloss", small_split(), "{batch: 1, sampling: poisson, epochs: 2}").rows;
  EXPECT_TRUE(std::isfinite(rows.back().loss));
}

TEST(RelaxLoss, NeedsCrossEntropy) {
  const auto refused = [](const std::string& loss) {
    return refusal({}, [&] {
      read_experiment(parse_yaml("data: {name: gaussian, split: {size: 50}}\nmodel: mlp\n"
                                 "train: {epochs: 2, loss: " +
                                     loss + "}\ndefenses: [relaxloss]\n",
                                 "f.yaml"),
                      "f");
    });
  };
  for (const auto* loss : {"logistic", "margin", "mse"})
    EXPECT_EQ(
        refused(loss),
        fmt::format("f.yaml:4:12: defense 'relaxloss' needs train.loss: cross_entropy, not {}",
                    loss));
  EXPECT_EQ(refused("cross_entropy"), "(accepted)");
}

TEST(RelaxLoss, RefusesWithTheExactMessage) {
  expect_config_error("defense", "{name: relaxloss, alpha: -1}",
                      "alpha must be at least 0, not -1");
  expect_config_error("defense", "{name: relaxloss, upper: 2}",
                      "upper must be between 0 and 1, not 2");
  expect_config_error("defense", "{name: relaxloss, mode: flood}",
                      "mode must be one of relaxloss, flooding, not 'flood'");
  expect_config_error("defense", "{name: relaxloss, flatten: images}",
                      "flatten must be one of image, tabular, not 'images'; did you mean 'image'?");
}

}  // namespace
}  // namespace imprint::relaxloss_test
