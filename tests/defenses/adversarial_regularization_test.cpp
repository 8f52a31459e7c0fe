#include <torch/optim/sgd.h>

#include <cmath>

#include "tests/support/fixtures.h"

namespace imprint::adversarial_regularization_test {
namespace {

const std::string linear_attacker = "attacker_logits: [], attacker_label: [], attacker_both: []";

const std::string small_attacker =
    "attacker_logits: [16], attacker_label: [8], attacker_both: [16]";

std::string adversarial(const std::string& keys) {
  return "{name: adversarial_regularization, " + keys + "}";
}

// A chain within a training that stands still: records are their own logits, three classes.
class Standing {
 public:
  Standing(const std::string& yaml, Dataset members, Dataset reference)
      : chain(chain_of(yaml)),
        split_{members, members, reference, {}, {}},
        model_(model_of("{name: linear, bias: false}", {{3}, 3, 0})),
        optimizer_(model_->parameters(), torch::optim::SGDOptions(0.1)) {
    model_->to(torch::kDouble);
    const torch::NoGradGuard no_grad;
    model_->parameters()[0].copy_(torch::eye(3, torch::kDouble));
    chain.start(at(0));
  }

  Step at(int64_t epoch, int64_t step = 0) {
    return {epoch, 10, step, *model_, optimizer_, split_, stream_, torch::kDouble, torch::kCPU, 1};
  }

  /// The attacker's weights, by the names it is saved with.
  Tensors attacker() {
    State state(State::Direction::save);
    chain.state(state);
    Tensors weights;
    for (const auto& [name, value] : state.tensors)
      if (name.find("optimizer") == std::string::npos) weights[name] = value;
    return weights;
  }

  /// h of one record, from the term in the loss.
  double probability(const Tensor& logits, int64_t y, double weight) {
    const Batch batch{zeros(1), {}, torch::tensor({y}), {}};
    const auto nothing = torch::zeros({1}, torch::kDouble);
    return chain.loss(nothing, logits.unsqueeze(0), batch, at(9)).item<double>() / weight + 0.5;
  }

  Model& model() { return *model_; }

  Chain chain;

 private:
  Split split_;
  std::shared_ptr<Model> model_;
  torch::optim::SGD optimizer_;
  Stream stream_{5};
};

bool same(const Tensors& a, const Tensors& b) {
  for (const auto& [name, value] : a)
    if (!torch::equal(value, b.at(name))) return false;
  return true;
}

Dataset records(int64_t n, uint64_t seed) {
  return {torch::randn({n, 3}, Stream(seed).generator(), torch::kDouble),
          torch::arange(n).remainder(3), 3};
}

TEST(AdversarialRegularization, EqualsPlainTrainingWhenWeightIsZero) {
  expect_same_training("{name: adversarial_regularization, weight: 0}", "none");
  expect_same_training(adversarial("weight: 0, warmup: 0, attacker_steps: 2"), "none");
}

TEST(AdversarialRegularization, EqualsPlainTrainingWhileItWarmsUp) {
  expect_same_training("{name: adversarial_regularization, weight: 1, warmup: 5}", "none");
  expect_same_training(adversarial("warmup: 5, attacker_steps: 2"), "none");
}

TEST(AdversarialRegularization, NeverAsksAnAttackerWhoHasLearntNothing) {
  const auto split = small_split(60, 6, 3, true);
  const auto plain = train_small("none", split, "{epochs: 1}");
  const auto passes = train_small(adversarial("warmup: 0"), split, "{epochs: 1}");
  EXPECT_TRUE(same_weights(*plain.model, *passes.model));
  const auto rounds =
      train_small(adversarial("warmup: 0, attacker_steps: 1"), split, "{epochs: 1}");
  EXPECT_FALSE(same_weights(*plain.model, *rounds.model));
}

TEST(AdversarialRegularization, ChangesTheTrainingAfterwardsAndIsDeterministic) {
  const auto split = small_split(60, 6, 3, true);
  for (const auto& yaml :
       {adversarial("weight: 3"), adversarial("weight: 3, order: sorted, " + small_attacker),
        adversarial("weight: 3, attacker_steps: 3, target_steps: 2, " + small_attacker)}) {
    EXPECT_TRUE(same_weights(*train_small(yaml, split).model, *train_small(yaml, split).model));
    EXPECT_FALSE(same_weights(*train_small(yaml, split).model, *train_small("none", split).model));
  }
}

TEST(AdversarialRegularization, AddsTheAttackersProbabilityWithItsGradient) {
  // A linear attacker: h = sigmoid(w . (logits, label coded -1, +1) + b), so that
  // d loss / dz = p - one-hot + 3 h (1 - h) w.
  Standing standing(adversarial("weight: 3, " + linear_attacker), records(6, 1), records(6, 2));
  const auto weights = standing.attacker();
  const auto w = weights.at("0.attacker.last.weight")[0];
  const auto b = weights.at("0.attacker.last.bias").item<double>();
  ASSERT_EQ(w.size(0), 6);
  auto logits = torch::tensor({{1.0, -2.0, 0.5}, {0.0, 3.0, 1.0}}, torch::kDouble);
  logits.requires_grad_();
  const Batch batch{torch::arange(2), {}, torch::tensor({2, 1}), {}};
  const auto plain = BaseLoss("cross_entropy")(logits, batch, 1);
  const auto losses = standing.chain.loss(plain, logits, batch, standing.at(1));
  losses.sum().backward();
  for (int64_t i = 0; i < 2; ++i) {
    const auto y = batch.y[i].item<int64_t>();
    double sum = b;
    for (int64_t k = 0; k < 3; ++k)
      sum += w[k].item<double>() * logits[i][k].item<double>() +
             w[3 + k].item<double>() * (k == y ? 1 : -1);
    const double h = 1 / (1 + std::exp(-sum));
    EXPECT_NEAR(losses[i].item<double>(), plain[i].item<double>() + 3 * (h - 0.5), 1e-12);
    for (int64_t k = 0; k < 3; ++k) {
      const auto slope = logits[i].detach().softmax(0)[k].item<double>() - (k == y ? 1 : 0) +
                         3 * h * (1 - h) * w[k].item<double>();
      EXPECT_NEAR(logits.grad()[i][k].item<double>(), slope, 1e-12);
    }
  }
}

TEST(AdversarialRegularization, AttackerTakesTheStepOfItsLoss) {
  // One step: all members at once against the only reference record. Plain SGD at its first step
  // moves by lr (gradient + 5e-4 w).
  for (const bool mse : {false, true}) {
    const auto members = records(6, 1), reference = records(1, 2);
    Standing standing(adversarial(fmt::format("warmup_passes: 1, attacker_optimizer: sgd, "
                                              "attacker_lr: 0.3, attacker_loss: {}, {}",
                                              mse ? "mse" : "cross_entropy", linear_attacker)),
                      members, reference);
    auto before = standing.attacker();
    standing.chain.epoch(standing.at(0));
    const auto after = standing.attacker();
    auto w = before.at("0.attacker.last.weight").requires_grad_();
    auto b = before.at("0.attacker.last.bias").requires_grad_();
    auto loss = torch::zeros({}, torch::kDouble);
    const auto add = [&](const Dataset& piece, double truth) {
      for (int64_t i = 0; i < piece.size(); ++i) {
        const auto label = torch::one_hot(piece.y[i], 3).to(torch::kDouble) * 2 - 1;
        const auto h = (w[0].dot(torch::cat({piece.x.all()[i], label})) + b[0]).sigmoid();
        const auto one = mse ? (h - truth).square() : truth == 1 ? -h.log() : -(1 - h).log();
        loss = loss + one / 2 / piece.size();
      }
    };
    add(members, 1);
    add(reference, 0);
    loss.backward();
    EXPECT_TRUE(torch::allclose(after.at("0.attacker.last.weight"), w - 0.3 * (w.grad() + 5e-4 * w),
                                1e-9, 1e-12));
    EXPECT_TRUE(torch::allclose(after.at("0.attacker.last.bias"), b - 0.3 * (b.grad() + 5e-4 * b),
                                1e-9, 1e-12));
  }
}

TEST(AdversarialRegularization, AttackersRateFollowsACosineOverTheEpochs) {
  // Ten epochs: half of it after five, and still that at every step of the epoch.
  const auto moved = [](int64_t epoch) {
    Standing standing(
        adversarial("attacker_optimizer: sgd, warmup: 10, warmup_passes: 1, " + linear_attacker),
        records(6, 1), records(1, 2));
    const auto before = standing.attacker().at("0.attacker.last.weight");
    standing.chain.epoch(standing.at(epoch));
    return standing.attacker().at("0.attacker.last.weight") - before;
  };
  EXPECT_TRUE(torch::allclose(moved(5), moved(0) / 2, 1e-9, 1e-12));
}

TEST(AdversarialRegularization, EveryLayerOfTheAttackerLearns) {
  Standing standing(adversarial("weight: 1"), records(20, 1), records(20, 2));
  const auto before = standing.attacker();
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const auto& [name, value] : before)
    if (value.dim() == 2) shapes[name] = value.sizes().vec();
  EXPECT_EQ(shapes, (std::map<std::string, std::vector<int64_t>>{
                        {"0.attacker.logits.0.weight", {1024, 3}},
                        {"0.attacker.logits.1.weight", {512, 1024}},
                        {"0.attacker.logits.2.weight", {64, 512}},
                        {"0.attacker.label.0.weight", {128, 3}},
                        {"0.attacker.label.1.weight", {64, 128}},
                        {"0.attacker.both.0.weight", {256, 128}},
                        {"0.attacker.both.1.weight", {128, 256}},
                        {"0.attacker.both.2.weight", {64, 128}},
                        {"0.attacker.last.weight", {1, 64}}}));
  standing.chain.epoch(standing.at(0));
  for (const auto& [name, value] : standing.attacker())
    EXPECT_FALSE(torch::equal(value, before.at(name))) << name;
}

TEST(AdversarialRegularization, AttackerIsGivenTheLabelAndTheOrderAskedFor) {
  const auto logits = torch::tensor({2.0, -1.0, 0.5}, torch::kDouble);
  const auto turned = torch::tensor({-1.0, 0.5, 2.0}, torch::kDouble);
  for (const bool sorted : {false, true}) {
    Standing standing(adversarial(sorted ? "weight: 2, order: sorted" : "weight: 2"), records(6, 1),
                      records(6, 2));
    EXPECT_NE(standing.probability(logits, 0, 2), standing.probability(logits, 1, 2));
    EXPECT_EQ(standing.probability(logits, 0, 2) == standing.probability(turned, 0, 2), sorted);
  }
}

TEST(AdversarialRegularization, AttackerLearnsToTellMembersFromOthers) {
  // Members are answered with 4 for their class, others with nothing.
  const auto y = torch::arange(30).remainder(3);
  const auto certain = torch::one_hot(y, 3).to(torch::kDouble) * 4;
  for (const auto* keys : {"weight: 2", "weight: 2, order: sorted, attacker_loss: mse",
                           "weight: 2, attacker_steps: 10, warmup: 0"}) {
    Standing standing(adversarial(fmt::format("{}, attacker_lr: 0.01, {}", keys, small_attacker)),
                      {certain, y, 3}, {torch::zeros_like(certain), y, 3});
    for (int64_t i = 0; i < 40; ++i) {
      standing.chain.epoch(standing.at(0, i));
      standing.chain.batch({}, standing.at(0, i));
    }
    EXPECT_GT(standing.probability(certain[0], 0, 2), 0.9) << keys;
    EXPECT_LT(standing.probability(torch::zeros({3}, torch::kDouble), 0, 2), 0.1) << keys;
  }
}

TEST(AdversarialRegularization, PlaysRoundsWithinAnEpochAfterTheWarmUp) {
  Standing standing(adversarial("attacker_steps: 3, target_steps: 2, " + small_attacker),
                    records(6, 1), records(6, 2));
  const auto changes = [&](const auto& play) {
    const auto before = standing.attacker();
    play();
    return !same(before, standing.attacker());
  };
  EXPECT_FALSE(changes([&] { standing.chain.batch({}, standing.at(0, 0)); }));  // warm-up
  EXPECT_TRUE(changes([&] { standing.chain.epoch(standing.at(0)); }));
  EXPECT_TRUE(changes([&] { standing.chain.batch({}, standing.at(1, 4)); }));
  EXPECT_FALSE(changes([&] { standing.chain.batch({}, standing.at(1, 5)); }));
  EXPECT_FALSE(changes([&] { standing.chain.epoch(standing.at(1)); }));
}

TEST(AdversarialRegularization, AttackerLeavesTheModelAlone) {
  Standing standing(adversarial("warmup: 0, attacker_steps: 2"), records(6, 1), records(6, 2));
  standing.model().train();
  standing.chain.batch({}, standing.at(0));
  EXPECT_TRUE(standing.model().is_training());
  EXPECT_FALSE(standing.model().parameters()[0].grad().defined());
  EXPECT_TRUE(torch::equal(standing.model().parameters()[0], torch::eye(3, torch::kDouble)));
}

TEST(AdversarialRegularization, GoesOnFromACheckpointToTheSameBits) {
  expect_resumes("{name: adversarial_regularization, weight: 3}");
  expect_resumes("{name: adversarial_regularization, weight: 3, warmup: 0}");
  expect_resumes(
      adversarial("weight: 3, attacker_steps: 2, target_steps: 3, order: sorted, "
                  "attacker_logits: [16], attacker_label: [], attacker_both: [16]"));
  expect_resumes(adversarial("weight: 3, attacker_optimizer: sgd, attacker_lr: 0.01, "
                             "attacker_steps: 2, attacker_batch: 16, " +
                             small_attacker),
                 "{}", {3, 4, 5, 20});
}

TEST(AdversarialRegularization, DemandsReferenceRecords) {
  EXPECT_TRUE(chain_of("{name: adversarial_regularization}")
                  .links()
                  .front()
                  .component->demands()
                  .reference);
}

TEST(AdversarialRegularization, RefusesWithTheExactMessage) {
  expect_config_error("defense", adversarial("weight: -1"), "weight must be at least 0, not -1");
  expect_config_error("defense", adversarial("warmup_passes: 0"),
                      "warmup_passes must be at least 1, not 0");
  expect_config_error("defense", adversarial("target_steps: 0"),
                      "target_steps must be at least 1, not 0");
  expect_config_error("defense", adversarial("attacker_batch: 0"),
                      "attacker_batch must be at least 1, not 0");
  expect_config_error("defense", adversarial("attacker_lr: 0"),
                      "attacker_lr must be above 0, not 0");
  expect_config_error("defense", adversarial("attacker_both: [0]"),
                      "each of attacker_both must be at least 1, not 0");
  expect_config_error("defense", adversarial("attacker_optimizer: adamm"),
                      "attacker_optimizer must be one of adam, sgd, not 'adamm'; did you mean "
                      "'adam'?");
  expect_config_error("defense", adversarial("order: sort"),
                      "order must be one of raw, sorted, not 'sort'; did you mean 'sorted'?");
}

}  // namespace
}  // namespace imprint::adversarial_regularization_test
