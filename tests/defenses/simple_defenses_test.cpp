// Tests of the defenses that are a few lines each: none, label_smoothing, dropout, early_stopping,
// confidence_rounding.
#include <cmath>

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

TEST(LabelSmoothing, IsTheLossBesideItsMeanOverAllClasses) {
  // (1 - epsilon) l + epsilon mean_k(-log p_k), record by record with four classes.
  constexpr double kEpsilon = 0.3;
  constexpr int64_t kRecords = 5, kClasses = 4;
  auto chain = chain_of("{name: label_smoothing, epsilon: 0.3}");
  const StillStep still(model_of("{name: linear}", {{2}, kClasses, 0}),
                        small_split(8, 2, kClasses));
  const auto step = still.step();
  const auto logits = 3 * torch::randn({kRecords, kClasses}, Stream(2).generator(), torch::kDouble);
  const auto y = torch::tensor({0, 1, 2, 3, 1}, torch::kLong);
  const auto batch = chain.batch(
      {torch::arange(kRecords), torch::zeros({kRecords, 2}, torch::kDouble), y, {}}, step);
  const auto losses = chain.loss(BaseLoss("cross_entropy")(logits, batch, 1), logits, batch, step);
  for (int64_t i = 0; i < kRecords; ++i) {
    double sum = 0, mean = 0;
    const auto logit = [&](int64_t k) { return logits[i][k].item<double>(); };
    for (int64_t k = 0; k < kClasses; ++k) sum += std::exp(logit(k));
    const auto minus_log_p = [&](int64_t k) { return std::log(sum) - logit(k); };
    for (int64_t k = 0; k < kClasses; ++k) mean += minus_log_p(k) / kClasses;
    const auto own = minus_log_p(y[i].item<int64_t>());
    EXPECT_NEAR(losses[i].item<double>(), (1 - kEpsilon) * own + kEpsilon * mean, 1e-6) << i;
  }
}

TEST(LabelSmoothing, RefusesEpsilonAboveOne) {
  expect_config_error("defense", "{name: label_smoothing, epsilon: 2}",
                      "epsilon must be between 0 and 1, not 2");
}

TEST(DropoutDefense, EqualsPlainTrainingWhenRateIsZero) {
  expect_same_training("{name: dropout, rate: 0}", "{name: none}");
  expect_same_training("{name: dropout, rate: 0, position: logits}", "{name: none}");
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

TEST(DropoutDefense, BeforeTheLastLayerTrainsWhatAHandWrittenLoopTrains) {
  // Full batches, plain descent; of three layers the mask falls on the input of the last.
  const auto split = small_split();
  const std::string layers = "{name: mlp, hidden: [8, 5]}";
  const auto trained =
      train_small("{name: dropout, rate: 0.3}", split,
                  "{epochs: 4, batch: all, precision: float64, optimizer: {momentum: 0}}", layers);
  const Stream stream(1);
  torch::manual_seed(stream.at("init").seed());
  const auto model = model_of(layers, {{6}, 3, 0});
  model->to(torch::kDouble);
  const auto weights = model->parameters();  // of each layer weight and bias
  ASSERT_EQ(weights.size(), 6U);
  const auto layer = [&](const Tensor& in, size_t i) {
    return in.mm(weights[2 * i].t()) + weights[2 * i + 1];
  };
  const auto x = split.train.x.all().to(torch::kDouble);
  for (uint64_t step = 0; step < 4; ++step) {
    model->zero_grad();
    const auto hidden = layer(layer(x, 0).relu(), 1).relu();
    torch::manual_seed(stream.at("layers", step).seed());
    const auto mask = torch::empty({60, 5}, torch::kDouble).bernoulli_(0.7) / 0.7;
    const auto log_p = layer(hidden * mask, 2).log_softmax(1);
    (-log_p.gather(1, split.train.y.unsqueeze(1))).mean().backward();
    const torch::NoGradGuard no_grad;
    for (const auto& p : weights) p.sub_(0.1 * p.grad());
  }
  for (size_t i = 0; i < weights.size(); ++i)
    EXPECT_TRUE(torch::allclose(trained.model->parameters()[i], weights[i], 1e-9, 1e-12)) << i;
}

TEST(DropoutDefense, IsTheSameForTheSameSeed) {
  expect_same_training("{name: dropout, rate: 0.5}", "{name: dropout, rate: 0.5}");
  EXPECT_FALSE(
      same_weights(*train_small("{name: dropout, rate: 0.5}").model, *train_small("none").model));
}

// What the losses see of `logits` at a step.
Tensor seen_logits(const std::string& yaml, const Tensor& logits, int64_t number = 0) {
  auto chain = chain_of(yaml);
  const StillStep still(model_of("{name: linear}", {{2}, 2, 0}), small_split(4, 2, 2), 1);
  auto step = still.step();
  step.step = number;
  return chain.logits(logits, {}, step);
}

TEST(DropoutDefense, DropsLogitsAndScalesTheOthers) {
  const std::string yaml = "{name: dropout, rate: 0.3, position: logits}";
  const auto ones = torch::ones({50'000, 2}, torch::kDouble);
  const auto seen = seen_logits(yaml, ones);
  EXPECT_NEAR(seen.eq(0).to(torch::kDouble).mean().item<double>(), 0.3, 0.01);
  EXPECT_TRUE(torch::allclose(seen.masked_select(seen.ne(0)),
                              torch::tensor(1 / 0.7, torch::kDouble), 1e-12));
  // Two logits of a record fall independently: both with 0.3^2.
  EXPECT_NEAR(seen.eq(0).all(1).to(torch::kDouble).mean().item<double>(), 0.09, 0.01);
  EXPECT_TRUE(torch::equal(seen, seen_logits(yaml, ones)));
  EXPECT_FALSE(torch::equal(seen, seen_logits(yaml, ones, 1)));
}

TEST(DropoutDefense, OnLogitsLeavesTheModelAndItsAnswersAlone) {
  auto chain = chain_of("{name: dropout, rate: 0.3, position: logits}");
  Shape shape{{4}, 2, 0};
  chain.shape(shape);
  EXPECT_EQ(shape.dropout, 0);
  const auto logits = torch::rand({3, 2});
  EXPECT_TRUE(seen_logits("{name: dropout, rate: 0.3}", logits).is_same(logits));
}

TEST(DropoutDefense, OnLogitsHasNoGradientThroughWhatItDropped) {
  auto logits = torch::rand({40, 2}, torch::kDouble).requires_grad_();
  const auto seen = seen_logits("{name: dropout, rate: 0.5, position: logits}", logits);
  seen.sum().backward();
  EXPECT_TRUE(torch::equal(logits.grad(), seen.ne(0).to(torch::kDouble) * 2));
}

TEST(DropoutDefense, OnLogitsTrainsWhatAHandWrittenLoopTrains) {
  // Full batches, plain descent; the masks are those of the stream.
  const auto split = small_split();
  const auto trained = train_small("{name: dropout, rate: 0.5, position: logits}", split,
                                   "{epochs: 4, batch: all, precision: float64, optimizer: "
                                   "{momentum: 0}}");
  const Stream stream(1);
  torch::manual_seed(stream.at("init").seed());
  const auto model = model_of("{name: mlp, hidden: [8]}", {{6}, 3, 0});
  model->to(torch::kDouble);
  for (uint64_t step = 0; step < 4; ++step) {
    model->zero_grad();
    auto generator = stream.at("defense").at("dropout", step).generator();
    const auto kept = torch::rand({60, 3}, generator, torch::kDouble).ge(0.5);
    const auto logits = model->forward(split.train.x.all().to(torch::kDouble)) * kept * 2;
    BaseLoss("cross_entropy")(logits, {{}, {}, split.train.y, {}}, 1).mean().backward();
    const torch::NoGradGuard no_grad;
    for (auto& p : model->parameters()) p.sub_(0.1 * p.grad());
  }
  for (size_t i = 0; i < model->parameters().size(); ++i)
    EXPECT_TRUE(
        torch::allclose(trained.model->parameters()[i], model->parameters()[i], 1e-9, 1e-12));
}

TEST(DropoutDefense, OnLogitsTrainsClosedFormsTapesAndOneOutputAlike) {
  const std::string drop = "{name: dropout, rate: 0.5, position: logits}";
  const auto split = small_split(60, 6, 2);
  for (const auto* loss : {"cross_entropy", "logistic"}) {
    const auto train = fmt::format("{{batch: all, precision: float64, loss: {}}}", loss);
    const auto closed = train_small(drop, split, train, "linear").model->parameters();
    const auto taped =
        train_small("[" + drop + ", {name: dpsgd, noise: 0, clip: 1e9}]", split, train, "linear")
            .model->parameters();
    for (size_t i = 0; i < closed.size(); ++i)
      EXPECT_TRUE(torch::allclose(closed[i], taped[i], 1e-9, 1e-12)) << loss;
  }
}

TEST(DropoutDefense, GoesOnFromACheckpointToTheSameBits) {
  expect_resumes("{name: dropout, rate: 0.5, position: logits}");
}

TEST(DropoutDefense, RefusesWithTheExactMessage) {
  expect_config_error("defense", "{name: dropout, rate: 1}",
                      "rate must be between 0 and 0.99, not 1");
  expect_config_error(
      "defense", "{name: dropout, position: logit}",
      "position must be one of last_layer, logits, not 'logit'; did you mean 'logits'?");
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
