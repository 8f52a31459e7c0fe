// Tests of linear and mlp.
#include "tests/support/fixtures.h"
#include "tests/support/networks.h"

namespace imprint::models_test {
namespace {

TEST(LinearModel, HasOneLayer) {
  const auto model = model_of("linear", {{2, 3}, 4, 0});
  EXPECT_EQ(parameter_count(*model), 6 * 4 + 4);
  EXPECT_EQ(parameter_count(*model_of("{name: linear, bias: false}", {{6}, 4, 0})), 24);
  EXPECT_EQ(model->forward(torch::zeros({5, 2, 3})).sizes(), torch::IntArrayRef({5, 4}));
}

TEST(LinearModel, ClosedFormGradientIsAutogradsGradient) {
  const auto model = model_of("linear", {{6}, 4, 0});
  const auto x = torch::randn({7, 6}, Stream(0).generator(), torch::kFloat);
  const auto slope = torch::randn({7, 4}, Stream(1).generator(), torch::kFloat);
  model->forward(x).backward(slope);
  std::vector<Tensor> slow;
  for (const auto& p : model->parameters()) slow.push_back(p.grad().clone());
  ASSERT_TRUE(model->has_closed_form());
  model->backward(x, slope);
  for (size_t i = 0; i < slow.size(); ++i)
    EXPECT_TRUE(torch::allclose(model->parameters()[i].grad(), slow[i], 1e-5, 1e-6));
}

TEST(LinearModel, Learns) { expect_model_learns("linear"); }

TEST(Mlp, HasTheLayersOfThePaper) {  // 600-1024-512-256-128-100
  const auto model =
      model_of("{name: mlp, hidden: [1024, 512, 256, 128], activation: tanh}", {{600}, 100, 0});
  const int64_t expected =
      600 * 1024 + 1024 + 1024 * 512 + 512 + 512 * 256 + 256 + 256 * 128 + 128 + 128 * 100 + 100;
  EXPECT_EQ(parameter_count(*model), expected);
}

TEST(Mlp, StartsFromPyTorchsDistribution) {  // U(-1/sqrt(400), 1/sqrt(400)): variance 1/(3 x 400)
  torch::manual_seed(0);
  const auto model = model_of("{name: mlp, hidden: [300]}", {{400}, 2, 0});
  const auto weight = model->parameters()[0];
  EXPECT_NEAR(weight.var().item<double>(), 1.0 / 1200, 2e-5);
  EXPECT_LE(weight.abs().max().item<double>(), 0.05);
  EXPECT_GT(weight.abs().max().item<double>(), 0.0499);
}

TEST(Mlp, EqualsItsFormula) {
  const auto model = model_of("{name: mlp, hidden: [3], activation: tanh}", {{2}, 2, 0});
  const auto p = model->parameters();
  const auto x = torch::tensor({{0.5F, -1.0F}});
  const auto hidden = (x.mm(p[0].t()) + p[1]).tanh();
  EXPECT_TRUE(torch::allclose(model->forward(x), hidden.mm(p[2].t()) + p[3]));
}

TEST(Mlp, StartsFromTheSameBitsWhateverKeysItHasGained) {
  torch::manual_seed(5);
  const auto model = model_of("{name: mlp, hidden: [3]}", {{4}, 2, 0});
  torch::manual_seed(5);
  const Linear first(4, 3), last(3, 2);
  const auto p = model->parameters();
  EXPECT_TRUE(torch::equal(p[0], first.weight) && torch::equal(p[1], first.bias));
  EXPECT_TRUE(torch::equal(p[2], last.weight) && torch::equal(p[3], last.bias));
}

TEST(Mlp, IsHomogeneousOfItsDepth) {  // phi(c theta) = c^3 phi(theta)
  const auto model = double_model("{name: mlp, hidden: [7, 5], homogeneous: true}", {{4}, 2, 0});
  const auto x = random_records(3, {4});
  EXPECT_EQ(parameter_count(*model), 4 * 7 + 7 + 7 * 5 + 5 * 2);
  const torch::NoGradGuard no_grad;
  const auto before = model->forward(x);
  for (auto& p : model->parameters()) p.mul_(2);
  EXPECT_TRUE(torch::allclose(model->forward(x), 8 * before, 1e-12, 1e-15));
}

TEST(Mlp, StartsAsItsKeysSay) {
  torch::manual_seed(0);
  const Shape shape{{400}, 60, 0};
  const auto haim = model_of("{name: mlp, hidden: [300], init: haim}", shape)->parameters();
  expect_normal(haim[0], 1e-4);
  EXPECT_LT(haim[1].std().item<double>(), 2e-4);
  EXPECT_NEAR(haim[2].var().item<double>(), 1.0 / (3 * 300), 5e-5);
  const auto gauss = model_of("{name: mlp, hidden: [300], init: gauss, scale: 0.3}", shape);
  for (const auto& p : gauss->parameters()) expect_normal(p, 0.3);
  torch::manual_seed(0);
  const auto plain = model_of("{name: mlp, hidden: [8]}", {{4}, 2, 0})->parameters();
  torch::manual_seed(0);
  const auto scaled = model_of("{name: mlp, hidden: [8], scale: 0.001}", {{4}, 2, 0})->parameters();
  for (size_t i = 0; i < plain.size(); ++i)
    EXPECT_TRUE(torch::allclose(scaled[i], plain[i] * 1e-3));
}

TEST(Mlp, HasTheRightGradient) {
  expect_gradient_is_the_difference("{name: mlp, hidden: [6, 5], activation: tanh}", {{4}, 3, 0});
  expect_per_record_gradients("{name: mlp, hidden: [6, 5], homogeneous: true}", {{4}, 3, 0});
}

TEST(Mlp, Learns) { expect_model_learns("{name: mlp, hidden: [16, 8]}"); }

TEST(Mlp, RefusesAnEmptyLayer) {
  expect_config_error("model", "{name: mlp, hidden: [8, 0]}",
                      "each of hidden must be at least 1, not 0");
  expect_config_error("model", "{name: mlp, hidden: 8}",
                      "hidden must be a list of integers, not 8");
  expect_config_error("model", "{name: mlp, homogeneous: true, activation: tanh}",
                      "homogeneous needs activation: relu, tanh is not homogeneous");
  expect_config_error("model", "{name: mlp, scale: 0}", "scale must be above 0, not 0");
}

}  // namespace
}  // namespace imprint::models_test
