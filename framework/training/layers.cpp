#include "framework/training/layers.h"

#include <fmt/ranges.h>
#include <torch/nn/init.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace imprint {
namespace {

Tensor ones_and_bias(const Tensor& products, const Tensor& bias) {
  return bias.defined() ? products + 1 : products;
}

}  // namespace

Linear::Linear(int64_t inputs, int64_t outputs, bool with_bias) {
  const double bound = 1 / std::sqrt(static_cast<double>(inputs));
  weight = register_parameter("weight", torch::empty({outputs, inputs}));
  torch::nn::init::uniform_(weight, -bound, bound);
  if (!with_bias) return;
  bias = register_parameter("bias", torch::empty({outputs}));
  torch::nn::init::uniform_(bias, -bound, bound);
}

Tensor Linear::forward(const Tensor& x) { return taped(x, torch::linear(x, weight, bias)); }

// The gradient of one record is the outer product of what comes back and what went in.
Tensor Linear::squared_norms(const Tensor& input, const Tensor& back) const {
  return ones_and_bias(input.square().sum(1), bias) * back.square().sum(1);
}

Tensor Linear::absolute_sums(const Tensor& input, const Tensor& back) const {
  return ones_and_bias(input.abs().sum(1), bias) * back.abs().sum(1);
}

Tensor Linear::gram(const Tensor& input, const Tensor& back) const {
  return ones_and_bias(input.mm(input.t()), bias) * back.mm(back.t());
}

void Linear::set_gradients(const Tensor& input, const Tensor& back, const Tensor& weights) {
  const auto scaled = back * weights.unsqueeze(1);
  weight.mutable_grad() = scaled.t().mm(input);
  if (bias.defined()) bias.mutable_grad() = scaled.sum(0);
}

Norm::Norm(int64_t channels)
    : weight(register_parameter("weight", torch::ones({channels}))),
      bias(register_parameter("bias", torch::zeros({channels}))) {}

Tensor Norm::gradients(const Tensor& input, const Tensor& back) const {
  return torch::cat({(back * normalised(input)).sum({2, 3}), back.sum({2, 3})}, 1);
}

Tensor Norm::squared_norms(const Tensor& input, const Tensor& back) const {
  return gradients(input, back).square().sum(1);
}

Tensor Norm::absolute_sums(const Tensor& input, const Tensor& back) const {
  return gradients(input, back).abs().sum(1);
}

Tensor Norm::gram(const Tensor& input, const Tensor& back) const {
  const auto each = gradients(input, back);
  return each.mm(each.t());
}

void Norm::set_gradients(const Tensor& input, const Tensor& back, const Tensor& weights) {
  const auto both = weights.unsqueeze(0).mm(gradients(input, back)).squeeze(0).chunk(2);
  weight.mutable_grad() = both[0].clone();
  bias.mutable_grad() = both[1].clone();
}

BatchNorm2d::BatchNorm2d(int64_t channels)
    : Norm(channels),
      running_mean(register_buffer("running_mean", torch::zeros({channels}))),
      running_var(register_buffer("running_var", torch::ones({channels}))),
      num_batches_tracked(register_buffer("num_batches_tracked", torch::zeros({}, torch::kLong))) {}

Tensor BatchNorm2d::forward(const Tensor& x) {
  const bool by_batch = is_training() && x.numel() > x.size(1);
  if (by_batch) num_batches_tracked += 1;
  return taped(
      x, torch::batch_norm(x, weight, bias, running_mean, running_var, by_batch, 0.1, 1e-5, true));
}

Tensor BatchNorm2d::normalised(const Tensor& input) const {
  TORCH_CHECK(!is_training(),
              "batch normalisation mixes the records of a batch, so none has a gradient of its "
              "own; give the model norm: group or norm: none");
  return torch::batch_norm(input, {}, {}, running_mean, running_var, false, 0.1, 1e-5, true);
}

GroupNorm::GroupNorm(int64_t channels) : Norm(channels), groups_(std::gcd(int64_t{32}, channels)) {}

Tensor GroupNorm::forward(const Tensor& x) {
  return taped(x, torch::group_norm(x, groups_, weight, bias, 1e-5));
}

Tensor GroupNorm::normalised(const Tensor& input) const {
  return torch::group_norm(input, groups_, {}, {}, 1e-5);
}

Sequence& Sequence::add(const std::string& name, const std::shared_ptr<Layer>& layer) {
  if (layer) layers_.push_back(register_module(name, layer));
  return *this;
}

Tensor Sequence::forward(const Tensor& x) {
  auto value = x;
  for (const auto& layer : layers_) value = layer->forward(value);
  return value;
}

Tensor rectified(const Tensor& x) {
  // A tape keeps the value before, and a leaf belongs to somebody else.
  if (Tape::current() != nullptr || (x.is_leaf() && x.requires_grad())) return x.relu();
  auto result = x;
  return result.relu_();
}

Tensor rectified(const std::shared_ptr<Layer>& norm, const Tensor& x) {
  return norm ? rectified(norm->forward(x)) : x.relu();
}

Tensor normed(const std::shared_ptr<Layer>& norm, const Tensor& x) {
  return norm ? norm->forward(x) : x;
}

Tensor pooled(const Tensor& x) { return x.mean({2, 3}); }

std::string norm_key(Keys& keys, const std::string& usual) {
  std::vector<std::string> kinds{"batch", "group", "none"};
  std::stable_partition(kinds.begin(), kinds.end(),
                        [&](const auto& kind) { return kind == usual; });
  return keys.choice("norm", kinds)
      .doc("after each convolution; batch mixes records, so DP-SGD needs another");
}

std::shared_ptr<Layer> make_norm(const std::string& kind, int64_t channels) {
  if (kind == "batch") return std::make_shared<BatchNorm2d>(channels);
  if (kind == "group") return std::make_shared<GroupNorm>(channels);
  return nullptr;
}

int64_t image_channels(const std::string& model, const std::vector<int64_t>& input) {
  if (input.size() != 3)
    throw ConfigError(
        fmt::format("{} needs images [channels, height, width], the records have shape [{}]", model,
                    fmt::join(input, ", ")));
  return input[0];
}

}  // namespace imprint
