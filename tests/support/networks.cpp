#include "tests/support/networks.h"

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/utils.h>

#include <cmath>

#include "tests/support/fixtures.h"

namespace imprint {
namespace {

// [n, parameters]: each record's gradient, one backward pass per record: the slow, obvious way.
Tensor gradients_by_record(torch::nn::Module& module, const RecordLosses& losses, const Tensor& x) {
  std::vector<Tensor> rows;
  for (int64_t i = 0; i < x.size(0); ++i) {
    std::vector<Tensor> flat;
    for (const auto& g :
         torch::autograd::grad({losses(x.slice(0, i, i + 1)).sum()}, module.parameters()))
      flat.push_back(g.flatten());
    rows.push_back(torch::cat(flat));
  }
  return torch::stack(rows);
}

Tensor flat_gradients(const torch::nn::Module& module) {
  std::vector<Tensor> flat;
  for (const auto& p : module.parameters()) flat.push_back(p.grad().flatten());
  return torch::cat(flat);
}

void expect_close(const Tensor& a, const Tensor& b, const char* what) {
  EXPECT_EQ(a.sizes(), b.sizes()) << what;
  const auto scale = b.abs().max().item<double>();
  EXPECT_LE((a - b).abs().max().item<double>(), 1e-9 * scale) << what;
}

}  // namespace

Tensor random_records(int64_t n, const std::vector<int64_t>& shape, uint64_t seed) {
  std::vector<int64_t> sizes{n};
  sizes.insert(sizes.end(), shape.begin(), shape.end());
  return torch::randn(sizes, Stream(seed).at("records").generator(), torch::kDouble);
}

std::shared_ptr<Model> double_model(const std::string& yaml, const Shape& shape, uint64_t seed) {
  torch::manual_seed(seed);
  const auto model = model_of(yaml, shape);
  place(*model, torch::kDouble, torch::kCPU);
  return model;
}

std::map<std::string, Tensor> named_tensors(const torch::nn::Module& model) {
  std::map<std::string, Tensor> all;
  for (const auto& each : model.named_parameters()) all[each.key()] = each.value();
  for (const auto& each : model.named_buffers()) all[each.key()] = each.value();
  return all;
}

Tensor class_losses(const Tensor& logits) {
  const auto y = torch::arange(logits.size(0)).remainder(logits.size(1));
  return BaseLoss("cross_entropy")(logits, {{}, logits, y, {}}, 1);
}

void expect_per_record_gradients(torch::nn::Module& module, const RecordLosses& losses,
                                 const Tensor& x) {
  const auto slow = gradients_by_record(module, losses, x);
  Tape tape;
  const auto each = losses(x);
  tape.close();
  const auto records = per_record(tape, each);
  expect_close(records.squared_norms(), slow.square().sum(1), "squared norms");
  expect_close(records.gram(), slow.mm(slow.t()), "gram");
  const auto weights = torch::linspace(-1, 2, x.size(0), torch::kDouble);
  records.set_gradients(weights);
  expect_close(flat_gradients(module), weights.unsqueeze(0).mm(slow).squeeze(0), "weighted sum");
}

void expect_per_record_gradients(const std::string& yaml, const Shape& shape) {
  const auto model = double_model(yaml, shape);
  // All records of class 0, so that a record's loss does not depend on its place in the batch.
  const auto losses = [&](const Tensor& x) {
    return -model->forward(x).log_softmax(1).select(1, 0);
  };
  expect_per_record_gradients(*model, losses, random_records(4, shape.input));
}

void expect_gradient_is_the_difference(const std::string& yaml, const Shape& shape) {
  const auto model = double_model(yaml, shape);
  const auto x = random_records(4, shape.input);
  const auto loss = [&] { return class_losses(model->forward(x)).mean(); };
  loss().backward();
  const torch::NoGradGuard no_grad;
  double derivative = 0;
  std::vector<Tensor> direction;
  for (const auto& p : model->parameters()) {
    direction.push_back(torch::randn_like(p) * p.norm() / std::sqrt(p.numel()));
    derivative += (direction.back() * p.grad()).sum().item<double>();
  }
  const auto moved_loss = [&](double by) {
    for (size_t i = 0; i < direction.size(); ++i) model->parameters()[i].add_(direction[i], by);
    return loss().item<double>();
  };
  // Small, for deep networks have a kink nearby.
  const double step = 1e-8;
  const double up = moved_loss(step), down = moved_loss(-2 * step);
  EXPECT_NEAR((up - down) / (2 * step), derivative, 1e-4 * (std::abs(derivative) + 1e-2)) << yaml;
}

void expect_no_trace_of_work_in_place(const std::string& yaml, const Shape& shape) {
  const auto model = double_model(yaml, shape);
  const auto x = random_records(3, shape.input);
  for (const bool training : {true, false}) {
    model->train(training);
    const torch::NoGradGuard no_grad;
    const auto given = x.clone();
    const auto first = model->forward(given);
    EXPECT_TRUE(torch::equal(model->forward(given), first)) << yaml;
    EXPECT_TRUE(torch::equal(given, x)) << yaml;
    // Up to rounding: which kernel runs depends on strides, and those on what was done in place.
    const Tape tape;
    expect_close(model->forward(given), first, yaml.c_str());
  }
}

void expect_step_lowers_loss(const std::string& yaml, const Shape& shape) {
  const auto model = double_model(yaml, shape);
  const auto x = random_records(8, shape.input);
  const auto before = class_losses(model->forward(x)).mean();
  before.backward();
  double square = 0;
  for (const auto& p : model->parameters()) square += p.grad().square().sum().item<double>();
  const torch::NoGradGuard no_grad;
  // As far as would take off a thousandth, were the loss linear.
  const double rate = 1e-3 * before.item<double>() / square;
  for (auto& p : model->parameters()) p.add_(p.grad(), -rate);
  const auto after = class_losses(model->forward(x)).mean();
  EXPECT_NEAR(after.item<double>() / before.item<double>(), 0.999, 5e-4) << yaml;
}

void expect_model_error(const std::string& yaml, const Shape& shape, const std::string& message) {
  try {
    model_of(yaml, shape);
    ADD_FAILURE() << yaml << " was accepted";
  } catch (const ConfigError& error) {
    const std::string text = error.what();
    const bool placed = std::isdigit(static_cast<unsigned char>(text.front())) != 0;
    EXPECT_EQ(placed ? text.substr(text.find(": ") + 2) : text, message);
  }
}

void expect_normal(const Tensor& values, double deviation) {
  const double n = static_cast<double>(values.numel());
  EXPECT_NEAR(values.mean().item<double>(), 0, 5 * deviation / std::sqrt(n));
  EXPECT_NEAR(values.std().item<double>(), deviation, 5 * deviation / std::sqrt(2 * n));
  // The uniform distribution of that deviation ends at sqrt(3) times it.
  EXPECT_GT(values.abs().max().item<double>(), 2 * deviation);
}

}  // namespace imprint
