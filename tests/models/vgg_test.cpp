#include "tests/support/fixtures.h"
#include "tests/support/networks.h"

namespace imprint::vgg_test {
namespace {

TEST(Vgg, HasTorchvisionsConvolutions) {
  // torchvision 0.29.2 counts 132,868,840 in vgg11_bn and 143,678,248 in vgg19_bn, of which the
  // fully connected layers are 25088 x 4096 + 4096 x 4096 + 4096 x 1000 and their biases.
  const int64_t connected = 25'088 * 4'096 + 4'096 * 4'096 + 4'096 * 1'000 + 2 * 4'096 + 1'000;
  const int64_t classifier = 512 * 10 + 10;
  const Shape shape{{3, 32, 32}, 10, 0};
  EXPECT_EQ(parameter_count(*model_of("vgg", shape)) - classifier, 132'868'840 - connected);
  EXPECT_EQ(parameter_count(*model_of("{name: vgg, depth: 19}", shape)) - classifier,
            143'678'248 - connected);
}

TEST(Vgg, NumbersItsLayersAsTorchvision) {
  const auto names = named_tensors(*model_of("vgg", {{3, 32, 32}, 10, 0}));
  for (const auto* name :
       {"features.0.weight", "features.1.running_mean", "features.4.bias", "features.8.weight",
        "features.25.weight", "features.26.bias", "classifier.weight", "classifier.bias"})
    EXPECT_TRUE(names.contains(name)) << name;
  EXPECT_TRUE(named_tensors(*model_of("{name: vgg, norm: none}", {{3, 32, 32}, 10, 0}))
                  .contains("features.3.weight"));
}

TEST(Vgg, TakesSmallImages) {
  const auto model = model_of("vgg", {{1, 28, 28}, 7, 0});
  EXPECT_EQ(model->forward(torch::rand({2, 1, 28, 28})).sizes(), torch::IntArrayRef({2, 7}));
}

TEST(Vgg, StartsAsRelaxLossStartsIt) {
  torch::manual_seed(0);
  const auto tensors = named_tensors(*model_of("vgg", {{3, 32, 32}, 100, 0}));
  expect_normal(tensors.at("features.4.weight"), std::sqrt(2.0 / (128 * 9)));
  EXPECT_TRUE(torch::equal(tensors.at("features.4.bias"), torch::zeros({128})));
  expect_normal(tensors.at("classifier.weight"), 0.01);
  EXPECT_TRUE(torch::equal(tensors.at("classifier.bias"), torch::zeros({100})));
}

TEST(Vgg, HasTheRightGradient) {
  const Shape shape{{1, 8, 8}, 3, 0};
  expect_gradient_is_the_difference("vgg", shape);
  expect_step_lowers_loss("vgg", shape);
}

TEST(Vgg, KnowsPerRecordGradients) {
  expect_per_record_gradients("{name: vgg, norm: group}", {{1, 4, 4}, 3, 0});
}

TEST(Vgg, LeavesNoTraceOfWorkInPlace) {
  for (const auto* norm : {"batch", "none"})
    expect_no_trace_of_work_in_place(fmt::format("{{name: vgg, norm: {}}}", norm),
                                     {{1, 8, 8}, 3, 0});
}

TEST(Vgg, RefusesWhatItIsNot) {
  expect_model_error("{name: vgg, depth: 12}", {{3, 32, 32}, 10, 0},
                     "depth must be one of 11, 13, 16, 19, not '12'; did you mean '11'?");
  expect_model_error("vgg", {{600}, 10, 0},
                     "vgg needs images [channels, height, width], the records have shape [600]");
}

}  // namespace
}  // namespace imprint::vgg_test
