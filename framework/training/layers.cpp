#include "framework/training/layers.h"

#include <torch/nn/init.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace imprint {
namespace {

constexpr auto channels_last = torch::MemoryFormat::ChannelsLast;

// Per-record gradients of a convolution are formed a few records or channels at a time, so that no
// temporary holds more numbers than this.
constexpr int64_t most_numbers = int64_t{1} << 25;

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

Tensor Linear::gram(const Tensor& input, const Tensor& back) const {
  return ones_and_bias(input.mm(input.t()), bias) * back.mm(back.t());
}

void Linear::set_gradients(const Tensor& input, const Tensor& back, const Tensor& weights) {
  const auto scaled = back * weights.unsqueeze(1);
  weight.mutable_grad() = scaled.t().mm(input);
  if (bias.defined()) bias.mutable_grad() = scaled.sum(0);
}

Conv2d::Conv2d(int64_t inputs, int64_t outputs, Window window, bool with_bias) : window_(window) {
  const double bound = 1 / std::sqrt(static_cast<double>(inputs * window.size * window.size));
  weight = register_parameter(
      "weight",
      torch::empty({outputs, inputs, window.size, window.size}).contiguous(channels_last));
  torch::nn::init::uniform_(weight, -bound, bound);
  if (!with_bias) return;
  bias = register_parameter("bias", torch::empty({outputs}));
  torch::nn::init::uniform_(bias, -bound, bound);
}

Tensor Conv2d::forward(const Tensor& x) {
  const auto input = x.contiguous(channels_last);
  return taped(input, torch::conv2d(input, weight, bias, window_.stride, window_.padding));
}

Tensor Conv2d::patches(const Tensor& input) const {
  return torch::im2col(input.contiguous(), {window_.size, window_.size}, {1, 1},
                       {window_.padding, window_.padding}, {window_.stride, window_.stride});
}

// A record's gradient is back [outputs, places] times its patches transposed. Its norm comes from
// that product, or from two products over places where those are smaller ("ghost norms").
Tensor Conv2d::squared_norms(const Tensor& input, const Tensor& back) const {
  const auto n = input.size(0), places = back.size(2) * back.size(3);
  const auto values = weight.numel(), inner = values / weight.size(0);
  const bool ghost = places * places * (inner + weight.size(0)) < values * places;
  const auto per_record = std::max(inner * places, ghost ? places * places : values);
  const auto chunk = std::clamp<int64_t>(most_numbers / per_record, 1, n);
  std::vector<Tensor> norms;
  for (int64_t at = 0; at < n; at += chunk) {
    const auto d = back.slice(0, at, at + chunk).flatten(2);
    const auto a = patches(input.slice(0, at, at + chunk));
    auto norm = ghost ? (a.transpose(1, 2).bmm(a) * d.transpose(1, 2).bmm(d)).sum({1, 2})
                      : d.bmm(a.transpose(1, 2)).square().sum({1, 2});
    if (bias.defined()) norm = norm + d.sum(2).square().sum(1);
    norms.push_back(norm);
  }
  return torch::cat(norms);
}

Tensor Conv2d::gram(const Tensor& input, const Tensor& back) const {
  const auto n = input.size(0), inner = weight.numel() / weight.size(0);
  const auto a = patches(input).transpose(1, 2);
  const auto d = back.flatten(2);
  const auto chunk = std::clamp<int64_t>(most_numbers / (n * inner), 1, weight.size(0));
  auto total = torch::zeros({n, n}, back.options());
  for (int64_t at = 0; at < weight.size(0); at += chunk) {
    const auto gradients = d.slice(1, at, at + chunk).bmm(a).flatten(1);
    total += gradients.mm(gradients.t());
  }
  if (!bias.defined()) return total;
  const auto sums = d.sum(2);
  return total + sums.mm(sums.t());
}

void Conv2d::set_gradients(const Tensor& input, const Tensor& back, const Tensor& weights) {
  const auto scaled = (back * weights.view({-1, 1, 1, 1})).contiguous(channels_last);
  const auto outputs = weight.size(0);
  const auto [_, for_weight, for_bias] = torch::convolution_backward(
      scaled, input, weight, torch::IntArrayRef(&outputs, 1), {window_.stride, window_.stride},
      {window_.padding, window_.padding}, {1, 1}, false, {0, 0}, 1, {false, true, bias.defined()});
  weight.mutable_grad() = for_weight;
  if (bias.defined()) bias.mutable_grad() = for_bias;
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
  if (is_training()) num_batches_tracked += 1;
  return taped(x, torch::batch_norm(x, weight, bias, running_mean, running_var, is_training(), 0.1,
                                    1e-5, true));
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

Tensor pooled(const Tensor& x) { return x.mean({2, 3}); }

std::string norm_key(Keys& keys) {
  return keys.choice("norm", {"batch", "group", "none"})
      .doc("after each convolution; batch mixes records, so DP-SGD needs another");
}

std::shared_ptr<Layer> make_norm(const std::string& kind, int64_t channels) {
  if (kind == "batch") return std::make_shared<BatchNorm2d>(channels);
  if (kind == "group") return std::make_shared<GroupNorm>(channels);
  return nullptr;
}

void initialise_convolutions(torch::nn::Module& model, bool fan_out) {
  const torch::NoGradGuard no_grad;
  for (const auto& module : model.modules()) {
    auto* conv = module->as<Conv2d>();
    if (conv == nullptr) continue;
    const auto fan = conv->weight.numel() / conv->weight.size(fan_out ? 1 : 0);
    torch::nn::init::normal_(conv->weight, 0, std::sqrt(2 / static_cast<double>(fan)));
    if (conv->bias.defined()) torch::nn::init::zeros_(conv->bias);
  }
}

}  // namespace imprint
