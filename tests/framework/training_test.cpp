#include <cmath>

#include "framework/training/fused_sgd.h"
#include "tests/support/fixtures.h"

namespace imprint::training_test {
namespace {

TEST(Stream, IsAFunctionOfSeedPurposeAndIndex) {
  EXPECT_EQ(Stream(1).at("order", 2).seed(), Stream(1).at("order", 2).seed());
  EXPECT_NE(Stream(1).at("order", 2).seed(), Stream(1).at("order", 3).seed());
  EXPECT_NE(Stream(1).at("order", 2).seed(), Stream(2).at("order", 2).seed());
  EXPECT_NE(Stream(1).at("order").seed(), Stream(1).at("init").seed());
}

TEST(Trainer, GivesTheSameBitsForTheSameSeed) {
  EXPECT_TRUE(same_weights(*train_small("none").model, *train_small("none").model));
  const auto other = train_small("none", small_split(), "{}", "{name: mlp, hidden: [8]}", 2);
  EXPECT_FALSE(same_weights(*train_small("none").model, *other.model));
}

TEST(Trainer, EqualsAPlainLoopWrittenByHand) {
  const auto split = small_split();
  const auto trained = train_small("none", split, "{epochs: 3, batch: 16, milestones: [2]}");
  const Stream stream(1);
  torch::manual_seed(stream.at("init").seed());
  const auto model = model_of("{name: mlp, hidden: [8]}", {{6}, 3, 0});
  std::vector<Tensor> velocity;
  for (const auto& p : model->parameters()) velocity.push_back(torch::zeros_like(p));
  for (uint64_t epoch = 0; epoch < 3; ++epoch) {
    const double lr = epoch < 2 ? 0.1 : 0.1 * 0.1;
    const auto order = torch::randperm(60, stream.at("order", epoch).generator(), torch::kLong);
    for (int64_t at = 0; at < 60; at += 16) {
      const auto rows = order.slice(0, at, at + 16);
      model->zero_grad();
      const auto log_p = model->forward(split.train.x.all().index_select(0, rows)).log_softmax(1);
      (-log_p.gather(1, split.train.y.index_select(0, rows).unsqueeze(1)).squeeze(1))
          .mean()
          .backward();
      const torch::NoGradGuard no_grad;
      for (size_t i = 0; i < velocity.size(); ++i) {
        velocity[i].mul_(0.9).add_(model->parameters()[i].grad());
        model->parameters()[i].add_(velocity[i], -lr);
      }
    }
  }
  for (size_t i = 0; i < velocity.size(); ++i)
    EXPECT_TRUE(
        torch::allclose(trained.model->parameters()[i], model->parameters()[i], 1e-5, 1e-7));
}

TEST(Trainer, ClosedFormTrainsWhatAutogradTrains) {
  const auto closed =
      train_small("none", small_split(), "{precision: float64}", "linear").model->parameters();
  // A gradient defense that changes nothing sends the same model through the tape instead.
  const auto taped = train_small("{name: dpsgd, noise: 0, clip: 1e9}", small_split(),
                                 "{precision: float64, batch: 15}", "linear");
  const auto plain =
      train_small("none", small_split(), "{precision: float64, batch: 15}", "linear");
  for (size_t i = 0; i < closed.size(); ++i)
    EXPECT_TRUE(
        torch::allclose(taped.model->parameters()[i], plain.model->parameters()[i], 1e-9, 1e-12));
}

TEST(Trainer, GoesOnFromACheckpointToTheSameBits) {
  expect_resumes("none");
  expect_resumes("{name: dropout, rate: 0.5}", "{evaluate: {every: 1}}");
  expect_resumes("none", "{optimizer: {name: adam, lr: 0.01}, precision: float64}");
  expect_resumes("none", "{optimizer: {momentum: 0}, sampling: with_replacement}");
  expect_resumes("{name: dpsgd, noise: 1}", "{}", {1, 5, 11});
}

TEST(Trainer, RecordsWhatIsDueAndEvaluatesTheLastEpoch) {
  const auto rows =
      train_small("none", small_split(), "{epochs: 7, record: {every: 3}, evaluate: {every: 100}}")
          .rows;
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].epoch, 3);
  EXPECT_FALSE(rows[0].test_accuracy.has_value());
  EXPECT_EQ(rows[2].epoch, 7);
  EXPECT_TRUE(rows[2].test_accuracy.has_value());
}

TEST(Trainer, EvaluatingChangesNoBit) {
  const auto often =
      train_small("{name: dropout, rate: 0.5}", small_split(), "{evaluate: {every: 1}}");
  const auto never =
      train_small("{name: dropout, rate: 0.5}", small_split(), "{evaluate: {every: 100}}");
  EXPECT_TRUE(same_weights(*often.model, *never.model));
}

TEST(FusedSgd, StepsAsLibTorchsOwn) {
  const auto plain_model = model_of("{name: mlp, hidden: [8]}", {{6}, 3, 0});
  const auto fused_model = model_of("{name: mlp, hidden: [8]}", {{6}, 3, 0});
  for (const bool nesterov : {false, true}) {
    for (const double momentum : {0.0, 0.9}) {
      if (nesterov && momentum == 0) continue;
      const auto options =
          torch::optim::SGDOptions(0.1).momentum(momentum).weight_decay(0.01).nesterov(nesterov);
      torch::optim::SGD plain(plain_model->parameters(), options);
      FusedSgd fused(fused_model->parameters(), options);
      const torch::NoGradGuard no_grad;
      for (size_t i = 0; i < 4; ++i)
        fused_model->parameters()[i].copy_(plain_model->parameters()[i]);
      for (uint64_t step = 0; step < 3; ++step) {
        for (size_t i = 0; i < 4; ++i) {
          auto p = plain_model->parameters()[i];
          p.mutable_grad() =
              torch::randn(p.sizes(), Stream(step).at("g", i).generator(), torch::kFloat);
          fused_model->parameters()[i].mutable_grad() = p.grad().clone();
        }
        plain.step();
        fused.step();
      }
      for (size_t i = 0; i < 4; ++i)
        EXPECT_TRUE(torch::allclose(fused_model->parameters()[i], plain_model->parameters()[i],
                                    1e-6, 1e-7));
    }
  }
}

TEST(Schedule, RecordsOnALogarithmicGrid) {
  const Due due{1, 2};  // two per power of ten: 1, 4 (3.16), 10, 32 (31.6), 100
  std::vector<int64_t> epochs;
  for (int64_t epoch = 1; epoch <= 120; ++epoch)
    if (due(epoch, 120)) epochs.push_back(epoch);
  EXPECT_EQ(epochs, (std::vector<int64_t>{1, 4, 10, 32, 100, 120}));
}

Schedule schedule(const std::string& yaml) {
  Problems problems;
  const auto value = parse_yaml(yaml, "");
  Keys keys(value, new_reading("train", problems));
  Schedule read(keys);
  keys.finish();
  problems.raise();
  return read;
}

TEST(Schedule, StepsAtMilestonesAndAnneals) {
  const auto steps = schedule("{epochs: 10, milestones: [4, 8], optimizer: {lr: 1}}");
  EXPECT_EQ(steps.lr_at(3), 1);
  EXPECT_NEAR(steps.lr_at(4), 0.1, 1e-12);
  EXPECT_NEAR(steps.lr_at(9), 0.01, 1e-12);
  const auto cosine = schedule("{epochs: 10, anneal: cosine, optimizer: {lr: 1}}");
  EXPECT_EQ(cosine.lr_at(0), 1);
  EXPECT_NEAR(cosine.lr_at(5), 0.5, 1e-12);
}

std::string refused(const std::string& yaml) {
  try {
    schedule(yaml);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "(accepted)";
}

TEST(Schedule, RefusesWithTheExactMessage) {
  EXPECT_EQ(refused("{batch: 0}"), "1:9: batch must be all or an integer of at least 1, not '0'");
  EXPECT_EQ(refused("{batch: many}"),
            "1:9: batch must be all or an integer of at least 1, not 'many'");
  EXPECT_EQ(refused("{milestones: [3], anneal: cosine}"),
            "1:14: give milestones or anneal: cosine, not both");
  EXPECT_EQ(refused("{optimizer: {nesterov: true}}"),
            "1:13: nesterov needs sgd with a momentum above 0");
  EXPECT_EQ(refused("{record: {every: 2, log: 3}}"), "1:26: give every or log, not both");
  EXPECT_EQ(refused("{optimizer: {name: adamm}}"),
            "1:20: optimizer.name must be one of sgd, adam, not 'adamm'; did you mean 'adam'?");
  EXPECT_EQ(refused("{batch: all, epochs: 3}"), "(accepted)");
}

TEST(Sampling, DrawsAsItsNameSays) {
  const auto sizes = [](const std::string& mode, int64_t batch) {
    std::vector<int64_t> all;
    for (const auto& index : draw_batches(mode, 100, batch, Stream(5)))
      all.push_back(index.size(0));
    return all;
  };
  EXPECT_EQ(sizes("shuffle", 40), (std::vector<int64_t>{40, 40, 20}));
  EXPECT_EQ(sizes("shuffle", 0), (std::vector<int64_t>{100}));
  EXPECT_EQ(sizes("with_replacement", 40), (std::vector<int64_t>{40, 40, 40}));
  const auto shuffled = torch::cat(draw_batches("shuffle", 100, 40, Stream(5)));
  EXPECT_TRUE(torch::equal(std::get<0>(shuffled.sort()), torch::arange(100)));
  for (const auto& index : draw_batches("without_replacement", 100, 40, Stream(5)))
    EXPECT_EQ(std::get<0>(at::_unique(index)).size(0), 40);
  double drawn = 0;
  for (uint64_t i = 0; i < 200; ++i)
    for (const auto& index : draw_batches("poisson", 100, 25, Stream(i)))
      drawn += static_cast<double>(index.size(0));
  EXPECT_NEAR(drawn / 800, 25, 0.5);  // 800 batches of expectation 25, deviation 4.3 each
}

TEST(BaseLoss, MatchesHandValues) {
  const auto phi = torch::tensor({{2.0}, {-1.0}}, torch::kDouble);
  const Batch batch{{}, phi, torch::tensor({1, 1}), {}};  // margins 2 and -1
  EXPECT_NEAR(BaseLoss("logistic")(phi, batch, 1)[0].item<double>(), std::log1p(std::exp(-2)),
              1e-12);
  EXPECT_NEAR(BaseLoss("exponential")(phi, batch, 1)[1].item<double>(), std::exp(1), 1e-12);
  // Softmin weights at sharpness 1: e^1/(e^1 + e^-2) on the margin -1.
  const double w = std::exp(1) / (std::exp(1) + std::exp(-2));
  EXPECT_NEAR(BaseLoss("margin")(phi, batch, 1).mean().item<double>(), w * 1 - (1 - w) * 2, 1e-12);
  const auto logits = torch::tensor({{1.0, 0.0}}, torch::kDouble);
  EXPECT_NEAR(BaseLoss("mse")(logits, {{}, logits, torch::tensor({1}), {}}, 1).item<double>(), 1,
              1e-12);
}

TEST(BaseLoss, SoftLabelsGiveTheExpectedLoss) {
  // t = 0.75, phi = 1: 0.75 log(1 + e^-1) + 0.25 log(1 + e)
  const auto phi = torch::tensor({{1.0}}, torch::kDouble);
  const Batch batch{{}, phi, torch::tensor({1}), torch::tensor({{0.25, 0.75}}, torch::kDouble)};
  EXPECT_NEAR(BaseLoss("logistic")(phi, batch, 1).item<double>(),
              0.75 * std::log1p(std::exp(-1)) + 0.25 * std::log1p(std::exp(1)), 1e-12);
}

TEST(Trainer, SurvivesABatchThatDrewNobody) {
  const auto rows =
      train_small("none", small_split(), "{batch: 1, sampling: poisson, epochs: 2}").rows;
  EXPECT_TRUE(std::isfinite(rows.back().loss));
}

TEST(BaseLoss, OneOutputNetsSeparateTwoClasses) {
  // Twelve records in six dimensions: separable.
  for (const auto* loss : {"logistic", "exponential", "margin"}) {
    const auto train = fmt::format(
        "{{epochs: 300, batch: all, loss: {}, precision: float64, optimizer: {{momentum: 0}}}}",
        loss);
    const auto rows = train_small("none", small_split(12, 6, 2), train).rows;
    EXPECT_EQ(*rows.back().train_accuracy, 1) << loss;
  }
}

TEST(BaseLoss, MarginStaysOnTheSphere) {
  const auto model =
      train_small("none", small_split(60, 6, 2), "{loss: margin, precision: float64}").model;
  double square = 0;
  for (const auto& p : model->parameters()) square += p.square().sum().item<double>();
  EXPECT_NEAR(square, 1, 1e-12);
}

TEST(Chain, AppliesDefensesInOrder) {
  // Smoothing changes the targets, then CCL halves that loss and adds its concave term.
  const double smooth = loss_of("{name: label_smoothing, epsilon: 0.2}", 0.8);
  const double both =
      loss_of("[{name: label_smoothing, epsilon: 0.2}, {name: ccl, alpha: 0.5}]", 0.8);
  EXPECT_NEAR(both, 0.5 * smooth - 0.5 * std::exp(0.8), 1e-9);
}

TEST(Chain, LinksThatDoNotTrainLeaveTheOthersAlone) {
  expect_same_training("{name: secret_shift}", "[none, {name: secret_shift}]");
  expect_same_training("{name: secret_shift}",
                       "[{name: early_stopping, epoch: 1}, {name: secret_shift}]");
}

TEST(Chain, KeepsTheStatesOfTwoOfAKindApart) {
  const std::string yaml = "[{name: secret_shift, norm: 1}, {name: secret_shift, norm: 2}]";
  auto chain = chain_of(yaml);
  auto split = small_split();
  chain.data(split, {{}, {}}, Stream(3));
  State saved(State::Direction::save);
  chain.state(saved);
  auto other = chain_of(yaml);
  State loaded(State::Direction::load);
  loaded.tensors = saved.tensors;
  other.state(loaded);
  const auto x = torch::zeros({1, 6});
  EXPECT_TRUE(torch::equal(other.query(x), chain.query(x)));
}

TEST(Chain, ADefensesOwnLayersAreNotTaped) {
  // After the warm-up the inner attacker runs inside the loss; its layers must not count as the
  // model's.
  const auto split = small_split(60, 6, 3, true);
  const std::string train = "{batch: all, precision: float64}";
  const std::string defense = "{name: adversarial_regularization, weight: 3}";
  const auto both =
      train_small("[" + defense + ", {name: dpsgd, noise: 0, clip: 1e9}]", split, train)
          .model->parameters();
  const auto plain = train_small(defense, split, train).model->parameters();
  for (size_t i = 0; i < plain.size(); ++i)
    EXPECT_TRUE(torch::allclose(both[i], plain[i], 1e-8, 1e-10));
}

TEST(Chain, ReleasesTheEarliestEpoch) {
  EXPECT_EQ(
      chain_of("[{name: early_stopping, epoch: 9}, {name: early_stopping, epoch: 4}]").release(),
      4);
  EXPECT_EQ(chain_of("none").release(), std::nullopt);
}

TEST(State, BringsModulesAndOptimizersBack) {
  const auto a = model_of("{name: mlp, hidden: [4]}", {{3}, 2, 0});
  const auto b = model_of("{name: mlp, hidden: [4]}", {{3}, 2, 0});
  const auto fresh = schedule("{optimizer: {name: adam}}");
  auto first = fresh.make_optimizer(a->parameters());
  auto second = fresh.make_optimizer(b->parameters());
  const auto x = torch::ones({2, 3});
  const auto step = [&](Model& model, torch::optim::Optimizer& optimizer) {
    optimizer.zero_grad();
    model.forward(x).square().sum().backward();
    optimizer.step();
  };
  step(*a, *first);
  State saved(State::Direction::save);
  saved.module("m", *a);
  saved.optimizer("o", *first);
  State loaded(State::Direction::load);
  loaded.tensors = saved.tensors;
  loaded.module("m", *b);
  loaded.optimizer("o", *second);
  step(*a, *first);
  step(*b, *second);
  EXPECT_TRUE(same_weights(*a, *b));
}

TEST(Evaluation, DoesNotDependOnTheOtherRecordsOfABatch) {
  const auto model = model_of("{name: mlp, hidden: [8]}", {{6}, 3, 0});
  const auto x = torch::randn({1300, 6}, Stream(0).generator(), torch::kFloat);
  const auto all = queried_logits(*model, {}, x, torch::kFloat, torch::kCPU);
  EXPECT_EQ(all.size(0), 1300);
  EXPECT_TRUE(torch::allclose(all[1299], model->forward(x.slice(0, 1299, 1300))[0], 1e-5, 1e-6));
}

}  // namespace
}  // namespace imprint::training_test
