#include "tests/support/fixtures.h"
#include "tests/support/networks.h"

namespace imprint::cnn_test {
namespace {

constexpr auto small = "{name: cnn, channels: [3, 4], hidden: 5, norm: ";

TEST(Cnn, HasTheLayersOfItsKeys) {
  // 28 x 28 becomes 7 x 7: two convolutions with biases, 64 x 49 to 128 to 10.
  EXPECT_EQ(parameter_count(*model_of("cnn", {{1, 28, 28}, 10, 0})),
            9 * 32 + 32 + 9 * 32 * 64 + 64 + 64 * 49 * 128 + 128 + 128 * 10 + 10);
  // With norms the convolutions have none: 2 c each instead of c.
  EXPECT_EQ(parameter_count(*model_of(small + std::string("batch}"), {{1, 8, 8}, 2, 0})),
            9 * 3 + 6 + 9 * 3 * 4 + 8 + 4 * 4 * 5 + 5 + 5 * 2 + 2);
}

TEST(Cnn, EqualsItsFormula) {
  const auto model = double_model("{name: cnn, channels: [2], hidden: 3}", {{1, 4, 4}, 2, 0});
  const auto p = model->parameters();
  const auto x = random_records(2, {1, 4, 4});
  const auto maps = torch::max_pool2d(torch::conv2d(x, p[0], p[1], 1, 1).relu(), 2).flatten(1);
  const auto hidden = torch::linear(maps, p[2], p[3]).relu();
  EXPECT_TRUE(torch::allclose(model->forward(x), torch::linear(hidden, p[4], p[5])));
}

TEST(Cnn, TakesImagesTooSmallToHalve) {
  const auto model = model_of("{name: cnn, channels: [2, 3, 4]}", {{1, 3, 9}, 7, 0});
  EXPECT_EQ(model->forward(torch::rand({2, 1, 3, 9})).sizes(), torch::IntArrayRef({2, 7}));
}

TEST(Cnn, StartsNormalByTheFanIn) {
  torch::manual_seed(0);
  const auto tensors = named_tensors(*model_of("cnn", {{3, 32, 32}, 10, 0}));
  expect_normal(tensors.at("conv2.weight"), std::sqrt(2.0 / (32 * 9)));
  EXPECT_TRUE(torch::equal(tensors.at("conv2.bias"), torch::zeros({64})));
}

TEST(Cnn, HasTheRightGradient) {
  const Shape shape{{2, 8, 8}, 3, 0};
  for (const auto* norm : {"batch", "group", "none"})
    expect_gradient_is_the_difference(small + std::string(norm) + "}", shape);
  expect_step_lowers_loss(small + std::string("none}"), shape);
}

TEST(Cnn, KnowsPerRecordGradients) {
  expect_per_record_gradients(small + std::string("group}"), {{2, 8, 8}, 3, 0});
  expect_per_record_gradients(small + std::string("none}"), {{2, 8, 8}, 3, 0});
}

TEST(Cnn, LeavesNoTraceOfWorkInPlace) {
  for (const auto* norm : {"batch", "group", "none"})
    expect_no_trace_of_work_in_place(small + std::string(norm) + "}", {{2, 8, 8}, 3, 0});
}

// Images of two classes, one bright above, the other below.
Split bright_halves(int64_t n) {
  const auto y = torch::arange(n).remainder(2);
  auto x = random_records(n, {1, 8, 8}).to(torch::kFloat);
  x.slice(2, 0, 4) += (1 - 2 * y.to(torch::kFloat)).view({-1, 1, 1, 1});
  const Dataset piece{x, y, 2};
  return {piece, piece, {}, {}, {}};
}

TEST(Cnn, LearnsAlsoUnderDpSgdAndThroughBatchesOfNobody) {
  const std::string yaml = small + std::string("group}");
  const auto plain = train_small("none", bright_halves(60), "{epochs: 12}", yaml).rows;
  EXPECT_LT(plain.back().loss, plain.front().loss / 2);
  const auto noisy = train_small("{name: dpsgd, noise: 0.1}", bright_halves(60),
                                 "{epochs: 12, optimizer: {lr: 1}}", yaml);
  EXPECT_LT(noisy.rows.back().loss, noisy.rows.front().loss);
  // One of three records is expected per batch, so that some are empty.
  const auto empty = train_small("{name: dpsgd, noise: 0.1}", bright_halves(3),
                                 "{epochs: 12, batch: 1, sampling: poisson}", yaml);
  EXPECT_TRUE(std::isfinite(empty.rows.back().loss));
}

TEST(Cnn, TrainsAsPlainGradientDescentDoes) {  // whatever the order of numbers in memory
  const std::string yaml = small + std::string("none}");
  const auto split = bright_halves(20);
  const auto trained = train_small("none", split,
                                   "{precision: float64, batch: all, epochs: 1, "
                                   "optimizer: {lr: 0.1, momentum: 0.9, weight_decay: 0.01}}",
                                   yaml);
  const auto model = double_model(yaml, {{1, 8, 8}, 2, 0}, Stream(1).at("init").seed());
  class_losses(model->forward(split.train.x.all().to(torch::kDouble))).mean().backward();
  for (size_t i = 0; i < model->parameters().size(); ++i) {
    const auto p = model->parameters()[i];
    EXPECT_TRUE(torch::allclose(trained.model->parameters()[i], p - 0.1 * (p.grad() + 0.01 * p),
                                1e-9, 1e-12));
  }
}

TEST(Cnn, WithoutNoiseAndWithAHugeClipDpSgdIsPlainTraining) {
  const std::string yaml = small + std::string("none}");
  const std::string full = "{precision: float64, batch: all}";
  const auto a = train_small("none", bright_halves(20), full, yaml).model->parameters();
  const auto b = train_small("{name: dpsgd, noise: 0, clip: 1e9}", bright_halves(20), full, yaml)
                     .model->parameters();
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(torch::allclose(a[i], b[i], 1e-9, 1e-12));
}

TEST(Cnn, RefusesFlatRecords) {
  expect_model_error("cnn", {{600}, 10, 0},
                     "cnn needs images [channels, height, width], the records have shape [600]");
}

}  // namespace
}  // namespace imprint::cnn_test
