#include <torch/optim/sgd.h>

#include <cmath>

#include "tests/support/fixtures.h"
#include "tests/support/refusals.h"

namespace imprint::mixup_mmd_test {
namespace {

// A training in double precision that stands still, with an optimizer of its own.
struct Standing {
  Standing(std::shared_ptr<Model> of, Split pieces) : model(std::move(of)), split(pieces) {
    model->to(torch::kDouble);
    optimizer = std::make_unique<torch::optim::SGD>(model->parameters(), options());
  }

  static torch::optim::SGDOptions options() {
    return torch::optim::SGDOptions(0.1).momentum(0.9).weight_decay(0.01);
  }

  Step at(int64_t epoch, int64_t step = 0) {
    return {epoch, 10, step, *model, *optimizer, split, stream, torch::kDouble, torch::kCPU, 1};
  }

  std::shared_ptr<Model> model;
  Split split;
  Stream stream{5};
  std::unique_ptr<torch::optim::Optimizer> optimizer;
};

std::vector<Tensor> copies(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> all;
  for (const auto& each : tensors) all.push_back(each.detach().clone());
  return all;
}

bool changed(const std::vector<Tensor>& before, const std::vector<Tensor>& after) {
  for (size_t i = 0; i < before.size(); ++i)
    if (!torch::equal(before[i], after[i])) return true;
  return false;
}

Split pieces(const Dataset& members, const Dataset& reference) {
  return {members, members, reference, {}, {}};
}

Dataset records(const std::vector<int64_t>& labels, int64_t classes, uint64_t seed) {
  const auto y = torch::tensor(labels);
  return {torch::randn({y.size(0), 2}, Stream(seed).generator(), torch::kDouble), y, classes};
}

TEST(MixupMmd, EqualsPlainTrainingWithoutItsTwoParts) {
  expect_same_training("{name: mixup_mmd, alpha: 0, weight: 0}", "none");
}

TEST(MixupMmd, IsMixupAloneWithoutWeightOrGap) {
  expect_same_training("{name: mixup_mmd, weight: 0}", "{name: mixup_mmd, threshold: 100}");
  const auto split = small_split(60, 6, 3, true);
  EXPECT_FALSE(same_weights(*train_small("{name: mixup_mmd, weight: 0}", split).model,
                            *train_small("none", split).model));
  EXPECT_FALSE(same_weights(*train_small("{name: mixup_mmd, weight: 0}", split).model,
                            *train_small("{name: mixup_mmd, threshold: 0}", split).model));
}

TEST(MixupMmd, MixesRecordsAndLabelsOfABatchByTheSameShare) {
  // Record i is the unit vector i: what is left of it shows the share, what came the partner.
  const auto y = torch::tensor({0, 1, 2, 0, 1});
  const Dataset members{torch::eye(5, torch::kDouble), y, 3};
  Standing standing(model_of("{name: linear}", {{5}, 3, 0}), pieces(members, members));
  auto chain = chain_of("mixup_mmd");
  bool moved = false;
  for (int64_t number = 0; number < 20; ++number) {
    const auto step = standing.at(0, number);
    const auto batch = chain.batch({torch::arange(5), members.x.all(), y, {}}, step);
    EXPECT_TRUE(torch::equal(batch.y, y));
    const auto logits = torch::randn({5, 3}, Stream(7).generator(), torch::kDouble);
    const auto losses = BaseLoss("cross_entropy")(logits, batch, 1);
    const auto log_p = logits.log_softmax(1);
    std::vector<double> shares;
    for (int64_t i = 0; i < 5; ++i) {
      EXPECT_NEAR(batch.x[i].sum().item<double>(), 1, 1e-12);
      auto rest = batch.x[i].clone();
      const double own = rest[i].item<double>();
      rest[i] = 0;
      if (rest.max().item<double>() < 1e-12) continue;  // its own partner
      moved = true;
      shares.push_back(own);
      const auto partner = rest.argmax().item<int64_t>();
      const auto term = [&](int64_t of) { return -log_p[i][y[of]].item<double>(); };
      EXPECT_NEAR(losses[i].item<double>(), own * term(i) + (1 - own) * term(partner), 1e-12);
    }
    for (const auto share : shares) EXPECT_NEAR(share, shares.front(), 1e-12);
  }
  EXPECT_TRUE(moved);
}

TEST(MixupMmd, DrawsItsShareFromABetaDistribution) {
  const Dataset members{torch::eye(2, torch::kDouble), torch::tensor({0, 1}), 2};
  Standing standing(model_of("{name: linear}", {{2}, 2, 0}), pieces(members, members));
  for (const double alpha : {1.0, 0.2}) {
    auto chain = chain_of(fmt::format("{{name: mixup_mmd, alpha: {}}}", alpha));
    std::vector<double> shares;
    for (int64_t number = 0; shares.size() < 2000; ++number) {
      const auto batch =
          chain.batch({torch::arange(2), members.x.all(), members.y, {}}, standing.at(0, number));
      const auto own = batch.x[0][0].item<double>();
      if (batch.x[0][1].item<double>() > 0) shares.push_back(own);
    }
    const auto drawn = torch::tensor(shares, torch::kDouble);
    EXPECT_NEAR(drawn.mean().item<double>(), 0.5, 0.03);
    EXPECT_NEAR(drawn.var().item<double>(), 1 / (4 * (2 * alpha + 1)), 0.01);
  }
}

// One pair after the other, the diagonals included.
Tensor slow_mmd2(const Tensor& u, const Tensor& v) {
  const auto mean_kernel = [](const Tensor& a, const Tensor& b) {
    auto total = torch::zeros({}, torch::kDouble);
    for (int64_t i = 0; i < a.size(0); ++i)
      for (int64_t j = 0; j < b.size(0); ++j)
        total = total + (-(a[i] - b[j]).square().sum() / 2).exp();
    return total / a.size(0) / b.size(0);
  };
  return mean_kernel(u, u) + mean_kernel(v, v) - 2 * mean_kernel(u, v);
}

TEST(MixupMmd, StepsAsTheSlowDefinition) {
  // (1, 0) against (1/2, 1/2): 1 + 1 - 2 exp(-1/4) = 0.442398
  EXPECT_NEAR(slow_mmd2(torch::tensor({{1.0, 0.0}}, torch::kDouble),
                        torch::tensor({{0.5, 0.5}}, torch::kDouble))
                  .item<double>(),
              0.442398, 1e-6);
  // One reference record per class, so that the draw is known; in order of labels the members are
  // 1, 5, 2, 4, 6, 0, 3. Steps of three have momentum and weight decay.
  const auto members = records({2, 0, 1, 2, 1, 0, 1}, 3, 1);
  const auto reference = records({1, 2, 0}, 3, 2);
  const std::vector<std::vector<int64_t>> rows{{1, 5, 2}, {4, 6, 0}, {3}};
  const std::vector<std::vector<int64_t>> drawn{{2, 2, 0}, {0, 0, 1}, {1}};
  Standing standing(model_of("{name: mlp, hidden: [4]}", {{2}, 3, 0}), pieces(members, reference));
  Standing by_hand(model_of("{name: mlp, hidden: [4]}", {{2}, 3, 0}), pieces(members, reference));
  {
    const torch::NoGradGuard no_grad;
    for (size_t i = 0; i < 4; ++i)
      by_hand.model->parameters()[i].copy_(standing.model->parameters()[i]);
  }
  auto chain = chain_of("{name: mixup_mmd, weight: 5, threshold: 0, batch: 3}");
  chain.epoch(standing.at(3));
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto answers = [&](const Dataset& piece, const std::vector<int64_t>& of) {
      return by_hand.model->forward(piece.x.rows(torch::tensor(of))).softmax(1);
    };
    by_hand.optimizer->zero_grad();
    (5 * slow_mmd2(answers(members, rows[i]), answers(reference, drawn[i]).detach())).backward();
    by_hand.optimizer->step();
  }
  for (size_t i = 0; i < 4; ++i)
    EXPECT_TRUE(torch::allclose(standing.model->parameters()[i], by_hand.model->parameters()[i],
                                1e-9, 1e-12));
}

// Notes what it is asked with gradients (members) and without.
class Spy final : public Model {
 public:
  Spy() : layer_(register_module("layer", std::make_shared<Linear>(2, 3))) {}
  Tensor forward(const Tensor& x) override {
    trained_ = trained_ || is_training();
    (torch::GradMode::is_enabled() ? members : others).push_back(x);
    return layer_->forward(x);
  }
  bool was_asked_in_training() const { return trained_; }

  std::vector<Tensor> members, others;

 private:
  std::shared_ptr<Linear> layer_;
  bool trained_ = false;
};

TEST(MixupMmd, DrawsReferenceRecordsOfTheSameClassesAllOfThem) {
  // Features: class and number. Class 0 has three reference records, 1 a single one, 2 none.
  const auto numbered = [](const std::vector<int64_t>& labels) {
    const auto y = torch::tensor(labels);
    return Dataset{torch::stack({y, torch::arange(y.size(0))}, 1).to(torch::kDouble), y, 3};
  };
  const auto members = numbered({0, 1, 2, 0, 0, 1, 2, 0, 0, 0});
  const auto reference = numbered({0, 1, 0, 0});
  const auto spy = std::make_shared<Spy>();
  Standing standing(spy, pieces(members, reference));
  auto chain = chain_of("{name: mixup_mmd, threshold: 0}");
  std::map<int64_t, int64_t> drawn;
  for (int64_t epoch = 0; epoch < 200; ++epoch) {
    spy->members.clear();
    spy->others.clear();
    auto step = standing.at(epoch);
    step.epochs = 1000;
    chain.epoch(step);
    ASSERT_EQ(spy->members.size(), 1U);
    ASSERT_EQ(spy->others.size(), 3U);  // two for the accuracies
    const auto classes = torch::tensor({0, 0, 0, 0, 0, 0, 1, 1}).to(torch::kDouble);
    EXPECT_TRUE(torch::equal(spy->members[0].select(1, 0), classes));
    EXPECT_TRUE(torch::equal(spy->others[2].select(1, 0), classes));
    for (int64_t i = 0; i < 8; ++i) ++drawn[spy->others[2][i][1].item<int64_t>()];
  }
  EXPECT_EQ(drawn[1], 400);
  for (const int64_t number : {0, 2, 3}) EXPECT_NEAR(drawn[number], 400, 60);  // deviation 16
}

TEST(MixupMmd, AsksTheModelAsInEvaluationAndLeavesItTraining) {
  const auto spy = std::make_shared<Spy>();
  Standing standing(spy, pieces(records({0, 1, 2, 0}, 3, 1), records({0, 1, 2}, 3, 2)));
  spy->train();
  chain_of("{name: mixup_mmd, threshold: 0}").epoch(standing.at(0));
  EXPECT_FALSE(spy->members.empty());
  EXPECT_FALSE(spy->was_asked_in_training());
  EXPECT_TRUE(spy->is_training());
}

TEST(MixupMmd, LeavesBatchStatisticsAlone) {
  const auto images = [](uint64_t seed) {
    return Dataset{torch::rand({6, 1, 8, 8}, Stream(seed).generator(), torch::kDouble),
                   torch::tensor({0, 1, 2, 0, 1, 2}), 3};
  };
  Standing standing(model_of("{name: resnet, depth: 20}", {{1, 8, 8}, 3, 0}),
                    pieces(images(1), images(2)));
  standing.model->train();
  const auto buffers = copies(standing.model->buffers());
  const auto weights = copies(standing.model->parameters());
  ASSERT_FALSE(buffers.empty());
  chain_of("{name: mixup_mmd, threshold: 0}").epoch(standing.at(0));
  EXPECT_FALSE(changed(buffers, standing.model->buffers()));
  EXPECT_TRUE(changed(weights, standing.model->parameters()));
}

TEST(MixupMmd, MakesNoPassInTheLastEpochNorWhereAccuraciesAgree) {
  const auto members = records({0, 1, 2, 0, 1, 2}, 3, 1);
  const auto passes = [&](const std::string& yaml, const Dataset& reference, int64_t epoch) {
    Standing standing(model_of("{name: linear}", {{2}, 3, 0}), pieces(members, reference));
    const auto before = copies(standing.model->parameters());
    chain_of(yaml).epoch(standing.at(epoch));
    return changed(before, standing.model->parameters());
  };
  const auto other = records({0, 1, 2}, 3, 2);
  const std::string always = "{name: mixup_mmd, threshold: 0}";
  EXPECT_TRUE(passes(always, other, 8));
  EXPECT_FALSE(passes(always, other, 9));  // of ten
  EXPECT_TRUE(passes(always, members, 8));
  EXPECT_FALSE(passes("mixup_mmd", members, 8));  // no gap at all
  EXPECT_FALSE(passes("{name: mixup_mmd, threshold: 0, weight: 0}", other, 8));
}

TEST(MixupMmd, MeasuresTheGapInPercentagePoints) {
  // Logits are the features: members all right, of 25 reference records one wrong: 4 points.
  class Identity final : public Model {
   public:
    Identity() : scale_(register_parameter("scale", torch::ones({1}))) {}
    Tensor forward(const Tensor& x) override { return x * scale_; }

   private:
    Tensor scale_;
  };
  const auto y = torch::arange(25).remainder(2);
  const auto right = torch::one_hot(y, 2).to(torch::kDouble);
  auto wrong = right.clone();
  wrong[3] = 1 - wrong[3];
  const auto passes = [&](const std::string& threshold) {
    Standing standing(std::make_shared<Identity>(), pieces({right, y, 2}, {wrong, y, 2}));
    const auto before = copies(standing.model->parameters());
    chain_of("{name: mixup_mmd, threshold: " + threshold + "}").epoch(standing.at(0));
    return changed(before, standing.model->parameters());
  };
  EXPECT_TRUE(passes("3"));
  EXPECT_TRUE(passes("3.9"));
  EXPECT_FALSE(passes("4.1"));
}

TEST(MixupMmd, DrawsAnswersAboutMembersTowardsThoseAboutOthers) {
  const auto split = small_split(60, 10, 3, true);
  const auto distance = [&](const std::string& yaml) {
    const auto model =
        train_small(yaml, split, "{epochs: 60, optimizer: {lr: 0.05}}", "{name: mlp, hidden: [32]}")
            .model;
    const auto answers = [&](const Dataset& piece) {
      return queried_logits(*model, {}, piece.x, torch::kFloat32, torch::kCPU)
          .to(torch::kDouble)
          .softmax(1);
    };
    double total = 0;
    for (int64_t k = 0; k < 3; ++k) {
      const auto of = [&](const Dataset& piece) {
        return answers(piece).index_select(0, piece.y.eq(k).nonzero().squeeze(1));
      };
      total += slow_mmd2(of(split.train), of(split.reference)).item<double>();
    }
    return total;
  };
  EXPECT_LT(distance("{name: mixup_mmd, threshold: 0, batch: 16}"),
            distance("{name: mixup_mmd, weight: 0}") / 2);
}

TEST(MixupMmd, GoesOnFromACheckpointToTheSameBits) {
  expect_resumes("{name: mixup_mmd, threshold: 0, batch: 16}");
  expect_resumes("{name: mixup_mmd, threshold: 0}",
                 "{optimizer: {name: adam, lr: 0.01}, precision: float64}", {3, 4, 5, 20});
}

TEST(MixupMmd, TrainsClosedFormsAndOneOutput) {
  const auto split = small_split(60, 6, 2, true);
  const auto rows = train_small("{name: mixup_mmd, threshold: 0}", split,
                                "{loss: logistic, epochs: 20}", "two_layer")
                        .rows;
  EXPECT_LT(rows.back().loss, rows.front().loss);
}

TEST(MixupMmd, RefusesToStandBesideDefensesOfSingleRecords) {
  const auto refused = [](const std::string& chain) {
    return refusal({}, [&] {
      read_experiment(parse_yaml("data: {name: gaussian, split: {protocol: five_way, size: 50}}\n"
                                 "model: mlp\ntrain: {epochs: 2}\ndefenses: [" +
                                     chain + "]\n",
                                 "f.yaml"),
                      "f");
    });
  };
  EXPECT_EQ(refused("[mixup_mmd, ccl]"),
            "f.yaml:4:12: defense 'mixup_mmd' mixes records, so that none has a loss or a gradient "
            "of its own for 'ccl' to change; use one of the two");
  EXPECT_EQ(refused("[dpsgd, mixup_mmd]"),
            "f.yaml:4:12: defense 'mixup_mmd' mixes records, so that none has a loss or a gradient "
            "of its own for 'dpsgd' to change; use one of the two");
  EXPECT_EQ(refused("[{name: mixup_mmd, alpha: 0}, ccl]"), "(accepted)");
  EXPECT_EQ(refused("[{name: label_smoothing}, mixup_mmd, dropout]"), "(accepted)");
}

TEST(MixupMmd, RefusesWithTheExactMessage) {
  EXPECT_TRUE(chain_of("mixup_mmd").links().front().component->demands().reference);
  expect_config_error("defense", "{name: mixup_mmd, weight: -1}",
                      "weight must be at least 0, not -1");
  expect_config_error("defense", "{name: mixup_mmd, threshold: 101}",
                      "threshold must be between 0 and 100, not 101");
  expect_config_error("defense", "{name: mixup_mmd, alpha: -1}",
                      "alpha must be at least 0, not -1");
  expect_config_error("defense", "{name: mixup_mmd, batch: 0}", "batch must be at least 1, not 0");
}

}  // namespace
}  // namespace imprint::mixup_mmd_test
