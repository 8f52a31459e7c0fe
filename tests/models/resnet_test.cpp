#include "tests/support/fixtures.h"
#include "tests/support/networks.h"

namespace imprint::resnet_test {
namespace {

TEST(ResNet, HasTorchvisionsNumberOfParameters) {  // as torchvision 0.29.2 counts them
  const Shape imagenet{{3, 64, 64}, 1000, 0};
  EXPECT_EQ(parameter_count(*model_of("{name: resnet, depth: 18}", imagenet)), 11'689'512);
  EXPECT_EQ(parameter_count(*model_of("{name: resnet, depth: 34}", imagenet)), 21'797'672);
  EXPECT_EQ(parameter_count(*model_of("{name: resnet, depth: 50}", imagenet)), 25'557'032);
}

TEST(ResNet, OfDepth20IsThatOfCifar) {
  const auto model = model_of("resnet", {{3, 32, 32}, 10, 0});
  // A stage from a to b channels: its first block 9ab + 9bb + ab, two more 18bb each, and 2b for
  // each of its 6 or 7 norms.
  const auto stage = [](int64_t a, int64_t b) {
    return 9 * a * b + 9 * b * b + (a == b ? 0 : a * b) + 36 * b * b + 2 * b * (a == b ? 6 : 7);
  };
  const auto expected =
      3 * 16 * 9 + 32 + stage(16, 16) + stage(16, 32) + stage(32, 64) + 64 * 10 + 10;
  EXPECT_EQ(parameter_count(*model), expected);
  EXPECT_EQ(expected, 272'474);
}

TEST(ResNet, NamesParametersAsTorchvisionWhateverItsNorm) {
  const Shape shape{{3, 32, 32}, 10, 0};
  for (const auto* norm : {"batch", "group"}) {
    const auto names =
        named_tensors(*model_of(fmt::format("{{name: resnet, depth: 50, norm: {}}}", norm), shape));
    for (const auto* name :
         {"conv1.weight", "bn1.bias", "layer1.0.conv3.weight", "layer1.0.downsample.0.weight",
          "layer1.0.downsample.1.weight", "layer4.2.bn3.weight", "fc.weight", "fc.bias"})
      EXPECT_TRUE(names.contains(name)) << name;
    EXPECT_FALSE(names.contains("conv1.bias"));
  }
  const auto bare = named_tensors(*model_of("{name: resnet, norm: none}", shape));
  EXPECT_TRUE(bare.contains("layer2.0.downsample.0.bias"));
  EXPECT_FALSE(bare.contains("bn1.weight"));
}

TEST(ResNet, TakesImagesOfAnySizeThroughEitherStem) {
  for (const auto* stem : {"auto", "cifar", "imagenet"})
    for (const auto* depth : {"20", "18"}) {
      const auto yaml = fmt::format("{{name: resnet, depth: {}, stem: {}}}", depth, stem);
      const auto model = model_of(yaml, {{1, 9, 12}, 7, 0});
      EXPECT_EQ(model->forward(torch::rand({2, 1, 9, 12})).sizes(), torch::IntArrayRef({2, 7}));
    }
}

TEST(ResNet, StartsAsItsPaperSays) {
  torch::manual_seed(0);
  const auto tensors = named_tensors(*model_of("{name: resnet, depth: 18}", {{3, 32, 32}, 10, 0}));
  expect_normal(tensors.at("layer2.0.conv1.weight"), std::sqrt(2.0 / (128 * 9)));  // fan out
  expect_normal(tensors.at("conv1.weight"), std::sqrt(2.0 / (64 * 49)));
  EXPECT_TRUE(torch::equal(tensors.at("bn1.weight"), torch::ones({64})));
  EXPECT_TRUE(torch::equal(tensors.at("bn1.bias"), torch::zeros({64})));
  EXPECT_LE(tensors.at("fc.weight").abs().max().item<double>(), 1 / std::sqrt(512));
  EXPECT_NEAR(tensors.at("fc.weight").var().item<double>(), 1.0 / (3 * 512), 4e-5);
}

TEST(ResNet, HasTheRightGradient) {
  const Shape shape{{2, 8, 8}, 3, 0};
  for (const auto* norm : {"batch", "group", "none"})
    expect_gradient_is_the_difference(fmt::format("{{name: resnet, norm: {}}}", norm), shape);
  expect_gradient_is_the_difference("{name: resnet, depth: 50, stem: cifar, norm: group}", shape);
  expect_step_lowers_loss("resnet", shape);
}

TEST(ResNet, KnowsPerRecordGradients) {
  expect_per_record_gradients("{name: resnet, norm: group}", {{2, 8, 8}, 3, 0});
  expect_per_record_gradients("{name: resnet, norm: none, stem: imagenet}", {{2, 12, 12}, 3, 0});
}

TEST(ResNet, LeavesNoTraceOfWorkInPlace) {
  for (const auto* norm : {"batch", "group", "none"})
    expect_no_trace_of_work_in_place(fmt::format("{{name: resnet, norm: {}}}", norm),
                                     {{2, 8, 8}, 3, 0});
}

TEST(ResNet, DropsOutBeforeItsLastLayerWhileTraining) {
  const auto model = double_model("{name: resnet, norm: none}", {{1, 8, 8}, 3, 0.5});
  const auto x = random_records(2, {1, 8, 8});
  EXPECT_FALSE(torch::equal(model->forward(x), model->forward(x)));
  model->eval();
  EXPECT_TRUE(torch::equal(model->forward(x), model->forward(x)));
}

TEST(ResNet, RefusesWhatItIsNot) {
  expect_model_error("{name: resnet, depth: 19}", {{3, 32, 32}, 10, 0},
                     "depth must be one of 20, 18, 34, 50, not '19'; did you mean '18'?");
  expect_model_error("resnet", {{600}, 10, 0},
                     "resnet needs images [channels, height, width], the records have shape [600]");
}

}  // namespace
}  // namespace imprint::resnet_test
