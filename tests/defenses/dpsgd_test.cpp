#include <torch/csrc/autograd/autograd.h>

#include "tests/support/fixtures.h"

namespace imprint::dpsgd_test {
namespace {

// Each record's gradient, one backward pass per record: the slow, obvious way.
std::vector<std::vector<Tensor>> gradients_one_by_one(Model& model, const Tensor& x,
                                                      const Tensor& y) {
  std::vector<std::vector<Tensor>> all;
  for (int64_t i = 0; i < x.size(0); ++i) {
    const Batch one{zeros(1), x.slice(0, i, i + 1), y.slice(0, i, i + 1), {}};
    const auto loss = BaseLoss("cross_entropy")(model.forward(one.x), one, 1).sum();
    all.push_back(torch::autograd::grad({loss}, model.parameters()));
  }
  return all;
}

double squared_norm(const std::vector<Tensor>& gradients) {
  double total = 0;
  for (const auto& g : gradients) total += g.square().sum().item<double>();
  return total;
}

TEST(Dpsgd, ClipsEachRecordAndSumsAsTheSlowDefinition) {
  const auto split = small_split(12, 5, 3);
  const auto model = model_of("{name: mlp, hidden: [7, 6], activation: tanh}", {{5}, 3, 0});
  model->to(torch::kDouble);
  const auto x = split.train.x.all().to(torch::kDouble);
  const double clip = 0.5;
  auto chain = chain_of("{name: dpsgd, clip: 0.5, noise: 0}");
  const StillStep still(model, split, 10);
  const auto step = still.step();
  const Batch batch{torch::arange(12), x, split.train.y, {}};
  const Tape tape;
  const auto losses = BaseLoss("cross_entropy")(model->forward(x), batch, 1);
  ASSERT_TRUE(chain.gradient(batch, {losses, tape}, step));
  const auto each = gradients_one_by_one(*model, x, split.train.y);
  bool clipped = false, kept = false;
  for (size_t p = 0; p < model->parameters().size(); ++p) {
    auto sum = torch::zeros_like(model->parameters()[p]);
    for (const auto& record : each) {
      const auto norm = std::sqrt(squared_norm(record));
      (norm > clip ? clipped : kept) = true;
      sum += record[p] * std::min(1.0, clip / norm);
    }
    EXPECT_TRUE(torch::allclose(model->parameters()[p].grad(), sum / 10, 1e-10, 1e-12));
  }
  EXPECT_TRUE(clipped || kept);
}

TEST(Dpsgd, WithoutNoiseAndWithAHugeClipIsPlainTraining) {
  // The same sum in another order: equal up to rounding, in double precision.
  const std::string train = "{precision: float64, sampling: poisson}";
  const auto plain = train_small("none", small_split(), train).model;
  const auto private_one = train_small("{name: dpsgd, noise: 0, clip: 1e9}", small_split(), train);
  // Poisson batches vary in size and DP-SGD divides by the expected one, so compare full batches.
  const std::string full = "{precision: float64, batch: all}";
  const auto a = train_small("none", small_split(), full).model->parameters();
  const auto b =
      train_small("{name: dpsgd, noise: 0, clip: 1e9}", small_split(), full).model->parameters();
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(torch::allclose(a[i], b[i], 1e-9, 1e-12));
  EXPECT_FALSE(same_weights(*plain, *private_one.model));
}

TEST(Dpsgd, NoiseHasTheDeviationItSays) {
  const auto model = model_of("{name: linear}", {{400}, 50, 0});
  auto chain = chain_of("{name: dpsgd, clip: 2, noise: 3}");
  const Dataset none{torch::zeros({4, 400}), zeros(4), 50};
  const Split split{none, none, {}, {}, {}};
  const StillStep still(model, split, 6);
  const auto step = still.step();
  const Batch batch{torch::arange(4), none.x.all(), none.y, {}};
  const Tape tape;
  const auto losses = BaseLoss("cross_entropy")(model->forward(none.x.all()), batch, 1) * 0;
  ASSERT_TRUE(chain.gradient(batch, {losses, tape}, step));
  const auto noise = model->parameters()[0].grad();  // 20,000 draws of N(0, (3 x 2 / 6)^2)
  EXPECT_NEAR(noise.std().item<double>(), 1, 0.02);
  EXPECT_NEAR(noise.mean().item<double>(), 0, 0.03);
}

TEST(Dpsgd, GramMatrixIsThatOfTheSlowGradients) {
  const auto split = small_split(6, 5, 3);
  const auto model = model_of("{name: mlp, hidden: [4]}", {{5}, 3, 0});
  model->to(torch::kDouble);
  const auto x = split.train.x.all().to(torch::kDouble);
  const Tape tape;
  const auto losses = BaseLoss("cross_entropy")(model->forward(x), {{}, x, split.train.y, {}}, 1);
  const auto gram = per_record(tape, losses).gram();
  const auto each = gradients_one_by_one(*model, x, split.train.y);
  for (size_t i = 0; i < 6; ++i) {
    for (size_t j = 0; j < 6; ++j) {
      double product = 0;
      for (size_t p = 0; p < each[i].size(); ++p)
        product += (each[i][p] * each[j][p]).sum().item<double>();
      EXPECT_NEAR(gram[static_cast<int64_t>(i)][static_cast<int64_t>(j)].item<double>(), product,
                  1e-10);
    }
  }
}

TEST(Dpsgd, DemandsPoissonSampling) {
  EXPECT_EQ(chain_of("{name: dpsgd}").links().front().component->demands().sampling, "poisson");
  expect_config_error("defense", "{name: dpsgd, clip: 0}", "clip must be above 0, not 0");
}

}  // namespace
}  // namespace imprint::dpsgd_test
