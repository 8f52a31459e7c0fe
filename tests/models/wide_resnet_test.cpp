#include "tests/support/fixtures.h"
#include "tests/support/networks.h"

namespace imprint::wide_resnet_test {
namespace {

constexpr auto small = "{name: wide_resnet, depth: 10, width: 1, norm: ";

TEST(WideResNet, HasThePapersNumberOfParameters) {
  // The numbers usually given: 36.5 M in Table 4 of the paper, 1.5 M. Shortcuts that change the
  // shape are 1x1 convolutions, also the first one.
  const Shape cifar{{3, 32, 32}, 10, 0};
  EXPECT_EQ(parameter_count(*model_of("{name: wide_resnet, width: 10}", cifar)), 36'479'194);
  EXPECT_EQ(parameter_count(*model_of("wide_resnet", cifar)), 1'467'610);
}

TEST(WideResNet, PassesTheInputOnWhereTheShapeStays) {
  const auto names = named_tensors(*model_of(small + std::string("batch}"), {{3, 32, 32}, 10, 0}));
  EXPECT_FALSE(names.contains("layer1.0.shortcut.weight"));  // 16 to 16 channels
  EXPECT_TRUE(names.contains("layer2.0.shortcut.weight"));
  EXPECT_TRUE(names.contains("layer1.0.bn2.running_var"));
  EXPECT_TRUE(names.contains("bn1.weight"));
}

TEST(WideResNet, HasAnOutputPerClass) {
  const auto model = model_of("{name: wide_resnet, depth: 16}", {{1, 9, 12}, 7, 0});
  EXPECT_EQ(model->forward(torch::rand({2, 1, 9, 12})).sizes(), torch::IntArrayRef({2, 7}));
}

TEST(WideResNet, StartsAsItsPaperSays) {
  torch::manual_seed(0);
  const auto tensors = named_tensors(*model_of("wide_resnet", {{3, 32, 32}, 10, 0}));
  expect_normal(tensors.at("layer2.0.conv1.weight"), std::sqrt(2.0 / (64 * 9)));
  EXPECT_TRUE(torch::equal(tensors.at("fc.bias"), torch::zeros({10})));
}

TEST(WideResNet, HasTheRightGradient) {
  const Shape shape{{2, 8, 8}, 3, 0};
  for (const auto* norm : {"batch", "group", "none"})
    expect_gradient_is_the_difference(small + std::string(norm) + "}", shape);
  expect_step_lowers_loss(small + std::string("batch}"), shape);
}

TEST(WideResNet, KnowsPerRecordGradients) {
  expect_per_record_gradients(small + std::string("group}"), {{2, 8, 8}, 3, 0});
  expect_per_record_gradients(small + std::string("none}"), {{2, 8, 8}, 3, 0});
}

TEST(WideResNet, LeavesNoTraceOfWorkInPlace) {
  for (const auto* norm : {"batch", "group", "none"})
    expect_no_trace_of_work_in_place(small + std::string(norm) + "}", {{2, 8, 8}, 3, 0});
}

TEST(WideResNet, RefusesWhatItIsNot) {
  expect_model_error("{name: wide_resnet, depth: 27}", {{3, 32, 32}, 10, 0},
                     "depth must be 6 n + 4 (10, 16, 22, 28, 34, 40, ...), not 27");
  expect_model_error(
      "wide_resnet", {{600}, 10, 0},
      "wide_resnet needs images [channels, height, width], the records have shape [600]");
}

}  // namespace
}  // namespace imprint::wide_resnet_test
