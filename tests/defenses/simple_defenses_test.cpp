// Tests of the defenses that are a few lines each: none, label_smoothing, dropout, early_stopping,
// confidence_rounding.
#include "tests/support/fixtures.h"

namespace imprint::simple_defenses_test {
namespace {

TEST(None, ChangesNothing) { EXPECT_NEAR(loss_of("none", 0.5), std::log(2.0), 1e-12); }

TEST(LabelSmoothing, EqualsPlainTrainingWhenEpsilonIsZero) {
  expect_same_training("{name: label_smoothing, epsilon: 0}", "{name: none}");
}

TEST(LabelSmoothing, MatchesHandValues) {
  // epsilon = 0.2, two classes: targets 0.9 and 0.1; p = 0.8: -0.9 log 0.8 - 0.1 log 0.2
  EXPECT_NEAR(loss_of("{name: label_smoothing, epsilon: 0.2}", 0.8), 0.361772, 1e-6);
}

TEST(LabelSmoothing, RefusesEpsilonAboveOne) {
  expect_config_error("defense", "{name: label_smoothing, epsilon: 2}",
                      "epsilon must be between 0 and 1, not 2");
}

TEST(DropoutDefense, EqualsPlainTrainingWhenRateIsZero) {
  expect_same_training("{name: dropout, rate: 0}", "{name: none}");
}

TEST(DropoutDefense, DropsTheShareItSaysAndOnlyWhileTraining) {
  auto chain = chain_of("{name: dropout, rate: 0.3}");
  Shape shape{{4}, 2, 0};
  chain.shape(shape);
  EXPECT_EQ(shape.dropout, 0.3);
  Dropout layer(0.3);
  torch::manual_seed(0);
  const auto ones = torch::ones({100'000});
  const auto dropped = layer.forward(ones);
  EXPECT_NEAR(dropped.eq(0).to(torch::kDouble).mean().item<double>(), 0.3, 0.01);
  EXPECT_NEAR(dropped.max().item<double>(), 1 / 0.7, 1e-6);
  layer.eval();
  EXPECT_TRUE(torch::equal(layer.forward(ones), ones));
}

TEST(DropoutDefense, IsTheSameForTheSameSeed) {
  expect_same_training("{name: dropout, rate: 0.5}", "{name: dropout, rate: 0.5}");
  EXPECT_FALSE(
      same_weights(*train_small("{name: dropout, rate: 0.5}").model, *train_small("none").model));
}

TEST(EarlyStopping, ReleasesItsEpochAndLeavesTrainingAlone) {
  auto chain = chain_of("{name: early_stopping, epoch: 3}");
  EXPECT_EQ(chain.release(), 3);
  EXPECT_EQ(chain.links().front().about->hooks, std::vector<std::string>{"release"});
  EXPECT_TRUE(chain.links().front().reading->address(false).empty());
  expect_same_training("{name: early_stopping, epoch: 3}", "none");
}

TEST(EarlyStopping, SnapshotOfEpochThreeIsWhatThreeEpochsGive) {
  const auto five =
      train_small("none", small_split(), "{epochs: 5}", "{name: mlp, hidden: [8]}", 1, {3});
  const auto three = train_small("none", small_split(), "{epochs: 3}");
  const auto weights = three.model->parameters();
  for (size_t i = 0; i < weights.size(); ++i)
    EXPECT_TRUE(torch::equal(five.snapshots.at(3)[i], weights[i]));
}

TEST(EarlyStopping, NeedsItsEpoch) {
  expect_config_error(
      "defense", "{name: early_stopping}",
      "defense 'early_stopping' needs the key 'epoch' (the epoch whose weights are released)");
  expect_config_error("defense", "{name: early_stopping, epoch: 2.5}",
                      "epoch must be an integer, not 2.5");
}

TEST(ConfidenceRounding, RoundsAndKeepsThePredictedClass) {
  const auto chain = chain_of("{name: confidence_rounding, digits: 1}");
  const auto log_p =
      torch::tensor({{0.62, 0.38}, {0.52, 0.48}, {0.97, 0.03}}, torch::kDouble).log();
  const auto p = chain.output(log_p, {}).exp();
  EXPECT_NEAR(p[0][0].item<double>(), 0.6, 1e-6);
  EXPECT_NEAR(p[0][1].item<double>(), 0.4, 1e-6);
  EXPECT_NEAR(p[2][1].item<double>(), 0, 1e-6);
  EXPECT_TRUE(torch::equal(p.argmax(1), log_p.argmax(1)));  // 0.52 and 0.48 both round to 0.5
  EXPECT_EQ(chain.links().front().about->hooks, std::vector<std::string>{"output"});
}

}  // namespace
}  // namespace imprint::simple_defenses_test
