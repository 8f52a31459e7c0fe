#include "tests/support/fixtures.h"
#include "tests/support/networks.h"

namespace imprint::two_layer_test {
namespace {

std::vector<Tensor> gradients(const Model& model) {
  std::vector<Tensor> all;
  for (const auto& p : model.parameters()) all.push_back(p.grad().clone());
  return all;
}

TEST(TwoLayer, EqualsItsFormula) {
  const auto model = model_of("{name: two_layer, width: 2}", {{2}, 1, 0});
  const torch::NoGradGuard no_grad;
  auto p = model->parameters();
  ASSERT_EQ(p.size(), 3U);
  p[0].copy_(torch::tensor({{1.F, 2.F}, {-1.F, 0.F}}));
  p[1].copy_(torch::tensor({0.5F, 3.F}));
  p[2].copy_(torch::tensor({{2.F, -1.F}}));
  // x = (1, 1): hidden (3.5, 2), phi 7 - 2. x = (4, -3): hidden (0, 0), phi 0.
  const auto phi = model->forward(torch::tensor({{1.F, 1.F}, {4.F, -3.F}}));
  EXPECT_TRUE(torch::allclose(phi, torch::tensor({{5.F}, {0.F}})));
}

TEST(TwoLayer, NamesItsLayersAsMlpDoes) {
  const auto names = named_tensors(*model_of("two_layer", {{6}, 3, 0}));
  EXPECT_EQ(names.size(), 3U);
  EXPECT_EQ(names.at("layer0.weight").sizes(), torch::IntArrayRef({100, 6}));
  EXPECT_EQ(names.at("layer0.bias").sizes(), torch::IntArrayRef({100}));
  EXPECT_EQ(names.at("layer1.weight").sizes(), torch::IntArrayRef({3, 100}));
  EXPECT_EQ(parameter_count(*model_of("{name: two_layer, bias: false}", {{2, 3}, 1, 0})), 700);
}

TEST(TwoLayer, IsHomogeneousOfDegreeTwo) {
  const auto model = double_model("two_layer", {{4}, 3, 0});
  const auto x = random_records(5, {4});
  const auto before = model->forward(x);
  // Euler: the inner product of theta and the gradient of phi_k is 2 phi_k, here summed.
  before.sum().backward();
  const torch::NoGradGuard no_grad;
  double euler = 0;
  for (const auto& p : model->parameters()) euler += (p * p.grad()).sum().item<double>();
  EXPECT_NEAR(euler, 2 * before.sum().item<double>(), 1e-12);
  for (auto& p : model->parameters()) p.mul_(3);
  EXPECT_TRUE(torch::allclose(model->forward(x), 9 * before, 1e-12, 1e-15));
}

void expect_closed_form_is_autograds(const std::string& yaml, int64_t outputs) {
  const auto model = double_model(yaml, {{2, 3}, outputs, 0});
  ASSERT_TRUE(model->has_closed_form());
  auto x = random_records(7, {2, 3});
  // Neurons at their kink: a record of zeros, where without a bias all hidden values are 0.
  x[3].zero_();
  const auto slope = random_records(7, {outputs}, 1);
  model->forward(x).backward(slope);
  const auto slow = gradients(*model);
  const torch::NoGradGuard no_grad;
  model->forward(x);
  model->backward(x, slope);
  const auto fast = gradients(*model);
  for (size_t i = 0; i < slow.size(); ++i)
    EXPECT_TRUE(torch::allclose(fast[i], slow[i], 1e-12, 1e-14)) << yaml;
  // Other records in between change nothing.
  model->forward(x.slice(0, 0, 2));
  model->backward(x, slope);
  EXPECT_TRUE(torch::equal(gradients(*model)[0], fast[0]));
}

TEST(TwoLayer, ClosedFormGradientIsAutogradsGradient) {
  for (const int64_t outputs : {1, 4}) {
    expect_closed_form_is_autograds("{name: two_layer, width: 9}", outputs);
    expect_closed_form_is_autograds("{name: two_layer, width: 9, bias: false}", outputs);
  }
}

TEST(TwoLayer, TrainsTheSameByEitherGradient) {
  const std::string yaml = "{name: two_layer, width: 12}",
                    full = "{precision: float64, batch: all}";
  const auto closed = train_small("none", small_split(), full, yaml).model->parameters();
  const auto taped = train_small("{name: dpsgd, noise: 0, clip: 1e9}", small_split(), full, yaml)
                         .model->parameters();
  for (size_t i = 0; i < closed.size(); ++i)
    EXPECT_TRUE(torch::allclose(taped[i], closed[i], 1e-9, 1e-12));
}

TEST(TwoLayer, WithDropoutLeavesTheGradientToAutograd) {
  EXPECT_FALSE(model_of("two_layer", {{4}, 2, 0.5})->has_closed_form());
  EXPECT_EQ(train_small("{name: dropout, rate: 0.5}", small_split(), "{}", "two_layer").rows.size(),
            5U);
}

TEST(TwoLayer, StartsAsItsKeysSay) {
  torch::manual_seed(0);
  const Shape shape{{200}, 40, 0};
  const auto start = [&](const std::string& keys) {
    return model_of("{name: two_layer, width: 300" + keys + "}", shape)->parameters();
  };
  const auto torch_default = start("");
  EXPECT_LE(torch_default[0].abs().max().item<double>(), 1 / std::sqrt(200));
  EXPECT_NEAR(torch_default[0].var().item<double>(), 1.0 / 600, 3e-5);
  EXPECT_NEAR(torch_default[2].var().item<double>(), 1.0 / 900, 5e-5);
  const auto small = start(", scale: 0.001");
  for (const auto& p : small) EXPECT_LE(p.abs().max().item<double>(), 1e-3 / std::sqrt(200));
  const auto haim = start(", init: haim");
  expect_normal(haim[0], 1e-4);
  expect_normal(haim[1], 1e-4);
  EXPECT_NEAR(haim[2].var().item<double>(), 1.0 / 900, 5e-5);
  for (const auto& p : start(", init: gauss, scale: 0.5")) expect_normal(p, 0.5);
}

TEST(TwoLayer, HasTheRightGradient) {
  expect_gradient_is_the_difference("{name: two_layer, width: 9}", {{4}, 3, 0});
  expect_per_record_gradients("{name: two_layer, width: 9}", {{4}, 3, 0});
  expect_step_lowers_loss("{name: two_layer, width: 9}", {{4}, 3, 0});
  expect_no_trace_of_work_in_place("{name: two_layer, width: 9}", {{4}, 3, 0});
}

TEST(TwoLayer, Learns) { expect_model_learns("two_layer"); }

TEST(TwoLayer, RefusesNoNeurons) {
  expect_config_error("model", "{name: two_layer, width: 0}", "width must be at least 1, not 0");
}

}  // namespace
}  // namespace imprint::two_layer_test
