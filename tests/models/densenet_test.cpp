#include "tests/support/fixtures.h"
#include "tests/support/networks.h"

namespace imprint::densenet_test {
namespace {

constexpr auto small = "{name: densenet, depth: 40, growth: 2, norm: ";

TEST(DenseNet, HasTorchvisionsNumberOfParameters) {  // as torchvision 0.29.2 counts them
  EXPECT_EQ(parameter_count(*model_of("densenet", {{3, 64, 64}, 1000, 0})), 7'978'856);
}

TEST(DenseNet, OfDepth40HasThePapersNumberOfParameters) {  // Huang et al., Table 2: 1.0 M
  const auto model = model_of("{name: densenet, depth: 40}", {{3, 32, 32}, 10, 0});
  // A layer of c channels: 2 c + 9 c 12; a transition 2 c + c c; norm5 and the classifier.
  int64_t expected = 3 * 16 * 9, c = 16;
  for (int block = 0; block < 3; ++block) {
    for (int layer = 0; layer < 12; ++layer, c += 12) expected += 2 * c + 9 * c * 12;
    expected += block < 2 ? 2 * c + c * c : 2 * c + 10 * c + 10;
  }
  EXPECT_EQ(parameter_count(*model), expected);
  EXPECT_EQ(expected, 1'019'722);
}

TEST(DenseNet, NamesParametersAsTorchvisionWhateverItsNorm) {
  for (const auto* norm : {"batch", "group"}) {
    const auto names = named_tensors(
        *model_of(fmt::format("{{name: densenet, norm: {}}}", norm), {{3, 32, 32}, 10, 0}));
    for (const auto* name :
         {"features.conv0.weight", "features.norm0.weight",
          "features.denseblock1.denselayer1.norm1.weight",
          "features.denseblock4.denselayer16.conv2.weight", "features.transition3.norm.bias",
          "features.transition1.conv.weight", "features.norm5.bias", "classifier.bias"})
      EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST(DenseNet, TakesSmallImagesThroughEitherStem) {
  for (const auto* stem : {"auto", "cifar", "imagenet"})
    for (const auto* depth : {"121", "40"}) {
      const auto yaml =
          fmt::format("{{name: densenet, depth: {}, stem: {}, growth: 4}}", depth, stem);
      const auto model = model_of(yaml, {{1, 8, 10}, 7, 0});
      EXPECT_EQ(model->forward(torch::rand({2, 1, 8, 10})).sizes(), torch::IntArrayRef({2, 7}));
    }
}

TEST(DenseNet, StartsAsItsPaperSays) {
  torch::manual_seed(0);
  const auto tensors = named_tensors(*model_of("densenet", {{3, 32, 32}, 10, 0}));
  expect_normal(tensors.at("features.conv0.weight"), std::sqrt(2.0 / (3 * 49)));  // fan in
  expect_normal(tensors.at("features.denseblock1.denselayer1.conv2.weight"),
                std::sqrt(2.0 / (128 * 9)));
  EXPECT_TRUE(torch::equal(tensors.at("classifier.bias"), torch::zeros({10})));
}

TEST(DenseNet, HasTheRightGradient) {
  const Shape shape{{2, 8, 8}, 3, 0};
  for (const auto* norm : {"batch", "group", "none"})
    expect_gradient_is_the_difference(small + std::string(norm) + "}", shape);
  expect_gradient_is_the_difference("{name: densenet, growth: 2}", shape);
  expect_step_lowers_loss(small + std::string("batch}"), shape);
}

TEST(DenseNet, KnowsPerRecordGradients) {
  expect_per_record_gradients(small + std::string("group}"), {{2, 8, 8}, 3, 0});
  expect_per_record_gradients(small + std::string("none}"), {{2, 8, 8}, 3, 0});
}

TEST(DenseNet, LeavesNoTraceOfWorkInPlace) {
  for (const auto* norm : {"batch", "group", "none"})
    for (const auto* stem : {"cifar", "imagenet"})
      expect_no_trace_of_work_in_place(fmt::format("{}{}, stem: {}}}", small, norm, stem),
                                       {{2, 8, 8}, 3, 0});
}

TEST(DenseNet, RefusesWhatItIsNot) {
  expect_model_error("{name: densenet, depth: 20}", {{3, 32, 32}, 10, 0},
                     "depth must be one of 121, 40, not '20'; did you mean '40'?");
  expect_model_error(
      "densenet", {{600}, 10, 0},
      "densenet needs images [channels, height, width], the records have shape [600]");
}

}  // namespace
}  // namespace imprint::densenet_test
