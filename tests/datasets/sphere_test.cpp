#include "tests/support/fixtures.h"

namespace imprint::sphere_test {
namespace {

TEST(Sphere, HasPointsOfOneLength) {
  const auto x = dataset_of("{name: sphere, records: 500, features: 9}").x.all();
  EXPECT_EQ(x.sizes(), torch::IntArrayRef({500, 9}));
  EXPECT_EQ(x.scalar_type(), torch::kDouble);
  EXPECT_LT((x.norm(2, 1) - 3).abs().max().item<double>(), 1e-14);
  const auto small = dataset_of("{name: sphere, records: 500, features: 9, radius: 0.5}").x.all();
  EXPECT_LT((small * 6 - x).abs().max().item<double>(), 1e-14);
}

TEST(Sphere, IsUniform) {  // mean 0, and E x x^T = I at radius sqrt(d): deviations of 1/sqrt(n)
  const auto x = dataset_of("{name: sphere, records: 20000, features: 5}").x.all();
  EXPECT_LT(x.mean(0).abs().max().item<double>(), 0.03);
  const auto second = x.t().mm(x) / 20000;
  EXPECT_LT((second - torch::eye(5, torch::kDouble)).abs().max().item<double>(), 0.04);
}

TEST(Sphere, LabelsByParitySignOrChance) {
  const auto labelled = [](const std::string& labels) {
    return dataset_of("{name: sphere, records: 4000, features: 3, labels: " + labels + "}");
  };
  const auto parity = labelled("parity"), sign = labelled("sign"), random = labelled("random");
  for (const auto* data : {&parity, &sign, &random}) {
    EXPECT_TRUE(torch::equal(data->x.all(), parity.x.all()));
    EXPECT_EQ(data->classes, 2);
    EXPECT_NEAR(data->y.to(torch::kDouble).mean().item<double>(), 0.5, 0.04);
  }
  const auto x = parity.x.all();
  EXPECT_TRUE(torch::equal(sign.y, x.select(1, 0).gt(0).to(torch::kLong)));
  // One or three positive of three: the product of the signs is positive.
  EXPECT_TRUE(torch::equal(parity.y, x.prod(1).gt(0).to(torch::kLong)));
}

TEST(Sphere, IsTheSameEveryTime) {
  EXPECT_EQ(dataset_of("sphere").digest(), dataset_of("sphere").digest());
  EXPECT_NE(dataset_of("sphere").digest(), dataset_of("{name: sphere, seed: 1}").digest());
}

TEST(Sphere, RefusesWrongKeys) {
  expect_config_error("dataset", "{name: sphere, radius: 0}", "radius must be above 0, not 0");
  expect_config_error("dataset", "{name: sphere, labels: singn}",
                      "labels must be one of parity, random, sign, not 'singn'; did you mean "
                      "'sign'?");
}

}  // namespace
}  // namespace imprint::sphere_test
