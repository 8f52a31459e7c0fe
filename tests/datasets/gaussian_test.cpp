#include "framework/data/stream.h"
#include "tests/support/fixtures.h"

namespace imprint::gaussian_test {
namespace {

TEST(Gaussian, IsAsItAlwaysWasByDefault) {
  const auto data = dataset_of("{name: gaussian, records: 50, features: 6, classes: 3, seed: 2}");
  const auto stream = Stream(2).at("gaussian");
  const auto y = torch::randint(0, 3, {50}, stream.at("y").generator(), torch::kLong);
  auto means = torch::randn({3, 6}, stream.at("means").generator(), torch::kFloat);
  means = means / means.norm(2, 1, true);
  const auto noise = torch::randn({50, 6}, stream.at("x").generator(), torch::kFloat);
  EXPECT_TRUE(torch::equal(data.x.all(), means.index_select(0, y) + noise));
  EXPECT_TRUE(torch::equal(data.y, y));
}

TEST(Gaussian, WithRandomLabelsIsThatWithoutSeparation) {
  const auto random = dataset_of("{name: gaussian, labels: random, classes: 5}");
  const auto flat = dataset_of("{name: gaussian, separation: 0, classes: 5}");
  EXPECT_TRUE(torch::equal(random.x.all(), flat.x.all()));
  EXPECT_TRUE(torch::equal(random.y, flat.y));
}

TEST(Gaussian, LabelsByParity) {
  const auto data = dataset_of("{name: gaussian, labels: parity, features: 5}");
  EXPECT_TRUE(torch::equal(data.y, data.x.all().prod(1).gt(0).to(torch::kLong)));
  EXPECT_NEAR(data.y.to(torch::kDouble).mean().item<double>(), 0.5, 0.04);
  const auto even = dataset_of("{name: gaussian, labels: parity, features: 2}");
  EXPECT_TRUE(torch::equal(even.y, even.x.all().prod(1).lt(0).to(torch::kLong)));
}

TEST(Gaussian, HasTheSpectrumItSays) {  // variances 1, 1/2, 1/3, 1/4
  const auto x =
      dataset_of("{name: gaussian, records: 20000, features: 4, labels: random, decay: 1}").x.all();
  const auto expected = 1 / torch::arange(1, 5, torch::kFloat);
  EXPECT_LT((x.var(0) / expected - 1).abs().max().item<double>(), 0.05);
}

TEST(Gaussian, RefusesWrongKeys) {
  expect_config_error("dataset", "{name: gaussian, labels: parity, classes: 3}",
                      "classes must be 2 for parity, not 3");
  expect_config_error("dataset", "{name: gaussian, decay: -1}", "decay must be at least 0, not -1");
  expect_config_error("dataset", "{name: gaussian, labels: none}",
                      "labels must be one of class_means, random, parity, not 'none'");
}

}  // namespace
}  // namespace imprint::gaussian_test
