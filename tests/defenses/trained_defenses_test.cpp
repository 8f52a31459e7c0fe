// Tests of distillation and secret_shift, which train or keep something of their own.
#include "tests/support/fixtures.h"

namespace imprint::trained_defenses_test {
namespace {

TEST(Distillation, EqualsPlainTrainingWhenTheTeacherHasNoWeight) {
  expect_same_training("{name: distillation, weight: 0}", "none");
}

TEST(Distillation, AsksForOneUndefendedTeacherOfAllMembers) {
  const auto first =
      chain_of("{name: distillation}").links().front().component->first(10, Stream(0));
  ASSERT_EQ(first.size(), 1U);
  EXPECT_TRUE(first[0].defenses.empty());
  EXPECT_FALSE(first[0].members.defined());
}

TEST(Distillation, LossIsTheDivergenceFromTheTeacher) {
  // Teacher (log 3, 0) at T = 2: p = sqrt 3 / (sqrt 3 + 1) = 0.633975; student (0, 0): 0.5.
  // a T^2 KL = 1 x 4 (0.633975 log(2 x 0.633975) + 0.366025 log(2 x 0.366025)) = 0.145355
  auto chain = chain_of("{name: distillation, temperature: 2, weight: 1}");
  class Teacher final : public Model {
    Tensor forward(const Tensor& x) override {
      return torch::tensor({{std::log(3.0), 0.0}}, torch::kDouble).expand({x.size(0), 2});
    }
  };
  Split split = small_split(4, 2, 2);
  const Trained teacher{std::make_shared<Teacher>(), torch::kDouble, torch::kCPU, split.train};
  chain.data(split, {{teacher}}, Stream(0));
  const auto model = model_of("{name: linear}", {{2}, 2, 0});
  const StillStep still(model, split, 1);
  const auto step = still.step();
  const auto logits = torch::zeros({1, 2}, torch::kDouble);
  const auto loss =
      chain.loss(torch::zeros({1}, torch::kDouble), logits, {zeros(1), {}, zeros(1), {}}, step);
  const double p = std::sqrt(3.0) / (std::sqrt(3.0) + 1);
  EXPECT_NEAR(loss.item<double>(), 4 * (p * std::log(2 * p) + (1 - p) * std::log(2 * (1 - p))),
              1e-9);
}

TEST(SecretShift, EqualsPlainTrainingWhenItsNormIsZero) {
  expect_same_training("{name: secret_shift, norm: 0}", "none");
}

TEST(SecretShift, MovesMembersAndQueriesByTheSameVector) {
  auto chain = chain_of("{name: secret_shift, norm: 5}");
  const auto before = small_split();
  auto split = before;
  chain.data(split, {{}}, Stream(3));
  const auto moved = split.train.x.all() - before.train.x.all();
  EXPECT_NEAR(moved[0].norm().item<double>(), 5, 1e-4);
  EXPECT_TRUE(torch::allclose(chain.query(before.train.x.all()), split.train.x.all()));
  EXPECT_TRUE(torch::equal(split.test.x.all(), before.test.x.all()));
}

TEST(SecretShift, StateBringsTheVectorBack) {
  auto chain = chain_of("{name: secret_shift, norm: 5}");
  auto split = small_split();
  chain.data(split, {{}}, Stream(3));
  State saved(State::Direction::save);
  chain.state(saved);
  auto other = chain_of("{name: secret_shift, norm: 5}");
  State loaded(State::Direction::load);
  loaded.tensors = saved.tensors;
  other.state(loaded);
  const auto x = torch::zeros({2, 6});
  EXPECT_TRUE(torch::equal(other.query(x), chain.query(x)));
}

}  // namespace
}  // namespace imprint::trained_defenses_test
