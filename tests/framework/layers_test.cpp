// Layers and the tape; the slow oracle takes one backward pass per record.
#include "framework/training/layers.h"

#include <torch/nn/init.h>
#include <torch/utils.h>

#include "framework/training/initialise.h"
#include "tests/support/fixtures.h"
#include "tests/support/networks.h"

namespace imprint::layers_test {
namespace {

// A loss that is no linear function of the outputs, so that what comes back differs by place.
Tensor record_losses(const Tensor& outputs) {
  return (outputs.sin() *
          torch::linspace(0.5, 2, outputs[0].numel(), torch::kDouble).view_as(outputs[0]))
      .flatten(1)
      .sum(1);
}

void expect_right(Layer& layer, const Tensor& x) {
  layer.to(torch::kDouble);
  expect_per_record_gradients(
      layer, [&](const Tensor& records) { return record_losses(layer.forward(records)); }, x);
}

TEST(Linear, KnowsPerRecordGradients) {
  for (const bool bias : {true, false}) {
    Linear layer(5, 3, bias);
    expect_right(layer, random_records(6, {5}));
  }
}

TEST(Conv2d, KnowsPerRecordGradientsFormedDirectly) {
  for (const bool bias : {true, false}) {
    for (const Conv2d::Window window : {Conv2d::Window{3, 1, 1}, {3, 2, 1}, {2, 2, 0}, {1, 2}}) {
      Conv2d layer(2, 3, window, bias);  // at least 9 places of 3 x 18 weights
      expect_right(layer, random_records(5, {2, 6, 7}));
    }
  }
}

TEST(Conv2d, KnowsPerRecordGradientsFromGhosts) {
  for (const bool bias : {true, false}) {
    for (const Conv2d::Window window : {Conv2d::Window{3, 1, 1}, {3, 2, 1}, {2, 1, 0}, {1}}) {
      Conv2d layer(8, 16, window, bias);  // at most 4 places of 16 x 72 weights
      expect_right(layer, random_records(5, {8, 2, 2}));
    }
  }
}

TEST(Conv2d, KnowsPerRecordGradientsPieceByPiece) {
  const auto usual = Conv2d::most_numbers;
  for (const int64_t most : {1, 200, 1000}) {
    Conv2d::most_numbers = most;
    Conv2d direct(2, 5, {3, 1, 1}), ghost(8, 16, {3, 1, 1});
    expect_right(direct, random_records(5, {2, 6, 7}));
    expect_right(ghost, random_records(5, {8, 1, 1}));
  }
  Conv2d::most_numbers = usual;
}

TEST(Conv2d, GradientsOfNobodyAreZero) {
  Conv2d layer(2, 3, {3, 1, 1});
  Tape tape;
  const auto losses = layer.forward(torch::zeros({0, 2, 4, 4})).flatten(1).sum(1);
  tape.close();
  const auto records = per_record(tape, losses);
  EXPECT_EQ(records.squared_norms().sizes(), torch::IntArrayRef({0}));
  EXPECT_EQ(records.gram().sizes(), torch::IntArrayRef({0, 0}));
  records.set_gradients(torch::zeros({0}));
  EXPECT_TRUE(torch::equal(layer.weight.grad(), torch::zeros_like(layer.weight)));
  EXPECT_TRUE(torch::equal(layer.bias.grad(), torch::zeros_like(layer.bias)));
}

TEST(Conv2d, KeepsWeightsAndGradientsInPlainOrder) {  // the fused SGD step walks memory
  Conv2d layer(3, 4, {3, 1, 1});
  Tape tape;
  const auto losses = layer.forward(torch::rand({2, 3, 5, 5})).flatten(1).sum(1);
  tape.close();
  per_record(tape, losses).set_gradients(torch::ones({2}));
  EXPECT_TRUE(layer.weight.is_contiguous());
  EXPECT_TRUE(layer.weight.grad().is_contiguous());
}

TEST(GroupNorm, KnowsPerRecordGradients) {
  GroupNorm layer(6);
  torch::nn::init::normal_(layer.weight);
  expect_right(layer, random_records(5, {6, 3, 4}));
}

TEST(BatchNorm2d, KnowsPerRecordGradientsInEvaluation) {
  BatchNorm2d layer(3);
  torch::nn::init::normal_(layer.weight);
  layer.running_mean.fill_(0.5);
  layer.running_var.fill_(3);
  layer.eval();
  expect_right(layer, random_records(5, {3, 4, 2}));
}

TEST(BatchNorm2d, RefusesPerRecordGradientsWhileTraining) {
  BatchNorm2d layer(3);
  Tape tape;
  const auto losses = layer.forward(torch::rand({4, 3, 2, 2})).flatten(1).sum(1);
  tape.close();
  const auto records = per_record(tape, losses);
  const std::string refusal =
      "batch normalisation mixes the records of a batch, so none has a gradient of its own; give "
      "the model norm: group or norm: none";
  for (const auto& ask :
       std::vector<std::function<void()>>{[&] { records.squared_norms(); }, [&] { records.gram(); },
                                          [&] { records.set_gradients(torch::ones({4})); }}) {
    try {
      ask();
      ADD_FAILURE() << "batch normalisation gave per-record gradients";
    } catch (const c10::Error& error) {
      EXPECT_EQ(error.what_without_backtrace(), refusal);
    }
  }
}

TEST(BatchNorm2d, TracksWhatPyTorchTracks) {
  // Values 1, 2, 3, 6: mean 3, unbiased variance (4 + 1 + 0 + 9) / 3; momentum 0.1.
  BatchNorm2d layer(1);
  const auto out = layer.forward(torch::tensor({1.F, 2.F, 3.F, 6.F}).view({2, 1, 1, 2}));
  EXPECT_NEAR(layer.running_mean.item<double>(), 0.3, 1e-6);
  EXPECT_NEAR(layer.running_var.item<double>(), 0.9 + 0.1 * 14 / 3, 1e-6);
  EXPECT_EQ(layer.num_batches_tracked.item<int64_t>(), 1);
  EXPECT_NEAR(out.flatten()[3].item<double>(), 3 / std::sqrt(14.0 / 4 + 1e-5), 1e-6);
}

TEST(BatchNorm2d, LearnsNoVarianceFromASingleValue) {
  BatchNorm2d layer(2);
  layer.running_mean.fill_(1);
  const auto out = layer.forward(torch::full({1, 2, 1, 1}, 3.F));
  EXPECT_NEAR(out.flatten()[0].item<double>(), 2, 1e-4);
  EXPECT_EQ(layer.forward(torch::zeros({0, 2, 4, 4})).size(0), 0);
  EXPECT_TRUE(torch::equal(layer.running_var, torch::ones({2})));
  EXPECT_EQ(layer.num_batches_tracked.item<int64_t>(), 0);
}

TEST(PerRecord, RefusesATapeWithoutUsesAndALayerUsedTwice) {
  const auto message_of = [](const Tape& tape, const Tensor& losses) -> std::string {
    try {
      per_record(tape, losses);
      return "accepted";
    } catch (const c10::Error& error) {
      return error.what_without_backtrace();
    }
  };
  Linear layer(2, 2);
  const auto x = torch::rand({3, 2});
  Tape empty;
  empty.close();
  EXPECT_EQ(message_of(empty, layer.forward(x).sum(1)),
            "this model kept no tape, so per-record gradients are not known; build it from "
            "framework/training/layers.h");
  Tape twice;
  const auto losses = layer.forward(layer.forward(x)).sum(1);
  twice.close();
  EXPECT_EQ(message_of(twice, losses),
            "per-record gradients need every layer to run once per forward pass");
}

TEST(Rectified, LeavesSharedValuesAlone) {
  const auto x = torch::tensor({-1.F, 2.F}).view({1, 2, 1, 1});
  const std::shared_ptr<Layer> none;
  EXPECT_EQ(rectified(none, x).min().item<float>(), 0);
  EXPECT_EQ(rectified(std::make_shared<GroupNorm>(2), x).sum().item<float>(), 0);
  EXPECT_EQ(x.min().item<float>(), -1);
  EXPECT_TRUE(normed(none, x).is_same(x));
  const auto leaf = torch::tensor({-1.F, 2.F}, torch::requires_grad());
  rectified(leaf);
  EXPECT_EQ(leaf.min().item<float>(), -1);
}

TEST(Convolutions, StartNormalByTheirFan) {
  torch::manual_seed(0);
  Sequence net;
  const auto conv = std::make_shared<Conv2d>(32, 48, Conv2d::Window{3, 1, 1});
  net.add("conv", conv);
  EXPECT_LE(conv->weight.abs().max().item<double>(), 1 / std::sqrt(32 * 9));  // PyTorch's default
  initialise_convolutions(net);
  expect_normal(conv->weight, std::sqrt(2.0 / (48 * 9)));
  EXPECT_EQ(conv->bias.abs().max().item<double>(), 0);
  initialise_convolutions(net, false);
  expect_normal(conv->weight, std::sqrt(2.0 / (32 * 9)));
}

}  // namespace
}  // namespace imprint::layers_test
