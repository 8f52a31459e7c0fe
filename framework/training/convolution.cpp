#include <torch/nn/init.h>

#include <algorithm>
#include <cmath>

#include "framework/training/layers.h"

namespace imprint {
namespace {

constexpr auto channels_last = torch::MemoryFormat::ChannelsLast;

// How many pieces of `each` numbers fit, at least one and at most `all`.
int64_t fitting(int64_t each, int64_t all) {
  return std::min(std::max<int64_t>(Conv2d::most_numbers / std::max<int64_t>(each, 1), 1), all);
}

// The inner products of a convolution's gradients without forming them: a [n, inner, places] and
// d [n, outputs, places] give sum_pq (a_ip . a_kq)(d_ip . d_kq).
Tensor ghost_gram(const Tensor& a, const Tensor& d) {
  const auto n = a.size(0), places = a.size(2);
  const auto rows = a.transpose(1, 2).flatten(0, 1), backs = d.transpose(1, 2).flatten(0, 1);
  const auto chunk = fitting(places * n * places, n) * places;
  std::vector<Tensor> parts;
  for (int64_t at = 0; at < n * places; at += chunk) {
    const auto products =
        rows.slice(0, at, at + chunk).mm(rows.t()) * backs.slice(0, at, at + chunk).mm(backs.t());
    parts.push_back(products.view({-1, places, n, places}).sum({1, 3}));
  }
  return torch::cat(parts);
}

}  // namespace

Conv2d::Conv2d(int64_t inputs, int64_t outputs, Window window, bool with_bias) : window_(window) {
  const double bound = 1 / std::sqrt(static_cast<double>(inputs * window.size * window.size));
  weight = register_parameter("weight", torch::empty({outputs, inputs, window.size, window.size}));
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
  if (window_.size == 1 && window_.stride == 1 && window_.padding == 0) return input.flatten(2);
  return torch::im2col(input.contiguous(), {window_.size, window_.size}, {1, 1},
                       {window_.padding, window_.padding}, {window_.stride, window_.stride});
}

// A record's gradient is back [outputs, places] times its patches transposed. Its norm comes from
// that product, or from two products over places where those are smaller ("ghost norms").
Tensor Conv2d::squared_norms(const Tensor& input, const Tensor& back) const {
  const auto n = input.size(0), places = back.size(2) * back.size(3);
  const auto values = weight.numel(), inner = values / weight.size(0);
  const bool ghost = places * places * (inner + weight.size(0)) < values * places;
  const auto chunk = fitting(std::max(inner * places, ghost ? places * places : values), n);
  std::vector<Tensor> norms{torch::zeros({0}, back.options())};
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

Tensor Conv2d::absolute_sums(const Tensor& input, const Tensor& back) const {
  const auto n = input.size(0);
  const auto chunk = fitting(weight.numel(), n);
  std::vector<Tensor> sums{torch::zeros({0}, back.options())};
  for (int64_t at = 0; at < n; at += chunk) {
    const auto d = back.slice(0, at, at + chunk).flatten(2);
    auto sum = gradients(input.slice(0, at, at + chunk), d).abs().sum(1);
    if (bias.defined()) sum = sum + d.sum(2).abs().sum(1);
    sums.push_back(sum);
  }
  return torch::cat(sums);
}

Tensor Conv2d::gradients(const Tensor& input, const Tensor& part) const {
  const auto n = input.size(0), inner = weight.numel() / weight.size(0);
  const auto chunk = fitting(inner * part.size(2), n);
  std::vector<Tensor> each;
  for (int64_t at = 0; at < n; at += chunk) {
    const auto a = patches(input.slice(0, at, at + chunk));
    each.push_back(part.slice(0, at, at + chunk).bmm(a.transpose(1, 2)).flatten(1));
  }
  return torch::cat(each);
}

Tensor Conv2d::gram(const Tensor& input, const Tensor& back) const {
  const auto n = input.size(0), places = back.size(2) * back.size(3);
  const auto outputs = weight.size(0), inner = weight.numel() / outputs;
  auto total = torch::zeros({n, n}, back.options());
  if (n == 0) return total;
  const auto d = back.flatten(2);
  const bool ghost = n * places * inner <= most_numbers &&
                     n * places * places * (inner + outputs) < (n + places) * weight.numel();
  if (ghost) total = ghost_gram(patches(input), d);
  const auto chunk = fitting(n * inner, outputs);
  for (int64_t at = 0; at < outputs && !ghost; at += chunk) {
    const auto each = gradients(input, d.slice(1, at, at + chunk));
    total += each.mm(each.t());
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
  weight.mutable_grad() = for_weight.contiguous();
  if (bias.defined()) bias.mutable_grad() = for_bias;
}

}  // namespace imprint
