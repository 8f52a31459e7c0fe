#include "tests/support/fixtures.h"

namespace imprint::antipodal_test {
namespace {

TEST(Antipodal, IsTheDataOfTheTheorem) {
  const auto data = dataset_of("{name: antipodal, features: 7, epsilon: 0.1, fresh: 3}");
  EXPECT_EQ(data.size(), 7);
  EXPECT_EQ(data.x.type(), torch::kDouble);
  EXPECT_TRUE(torch::equal(data.y.slice(0, 0, 4), torch::tensor({1, 1, 1, 0})));
  const auto x = data.x.rows(0, 4);
  const auto products = torch::tensor(
      {{7.0, -7.0, 0.0, 0.0}, {-7.0, 7.0, 0.0, 0.0}, {0.0, 0.0, 7.0, -0.1}, {0.0, 0.0, -0.1, 7.0}},
      torch::kDouble);
  EXPECT_LT((x.mm(x.t()) - products).abs().max().item<double>(), 1e-14);
}

TEST(Antipodal, HasTheScoresOfTheMaximumMargin) {  // w = -(2/d) x_4, b = 1: 1, 1, 1 + 2 eps/d, -1
  const auto x = dataset_of("{name: antipodal, fresh: 0}").x.all();
  EXPECT_EQ(x.sizes(), torch::IntArrayRef({4, 5}));
  const auto scores = x.mv(-2.0 / 5 * x[3]) + 1;
  const auto expected = torch::tensor({1.0, 1.0, 1 + 2.0 / 6 / 5, -1.0}, torch::kDouble);
  EXPECT_LT((scores - expected).abs().max().item<double>(), 1e-14);
}

TEST(Antipodal, HasFreshRecordsAfterThem) {
  const auto data = dataset_of("{name: antipodal, fresh: 4000}");
  const auto fresh = data.x.rows(4, 4004);
  EXPECT_NEAR(fresh.mean().item<double>(), 0, 0.03);
  EXPECT_NEAR(fresh.std().item<double>(), 1, 0.03);
  EXPECT_EQ(data.digest(), dataset_of("{name: antipodal, fresh: 4000}").digest());
  EXPECT_NE(data.digest(), dataset_of("{name: antipodal, fresh: 4000, seed: 1}").digest());
}

TEST(Antipodal, RefusesWrongKeys) {
  expect_config_error("dataset", "{name: antipodal, features: 4}",
                      "features must be at least 5, not 4");
  expect_config_error("dataset", "{name: antipodal, epsilon: 0.5}",
                      "epsilon must be between 0 and 0.3333333333333333, not 0.5");
}

}  // namespace
}  // namespace imprint::antipodal_test
