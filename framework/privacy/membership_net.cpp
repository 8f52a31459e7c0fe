#include "framework/privacy/membership_net.h"

#include <cmath>

namespace imprint {

MembershipNet::MembershipNet(Keys keys, int64_t epochs)
    : hidden_(keys.integers("hidden", {64, 32}).at_least(1).doc("widths of the hidden layers")),
      epochs_(keys.integer("epochs", epochs).at_least(1).doc("of the attack's own training")),
      batch_(keys.integer("batch", 128).at_least(1).doc("records per step of it")),
      lr_(keys.number("lr", 1e-3).above(0).doc("Adam's step size")) {}

// One flat tensor of all parameters, so that Adam is a few passes over it.
void MembershipNet::build(int64_t inputs, const Stream& stream) {
  auto widths = hidden_;
  widths.insert(widths.begin(), inputs);
  widths.push_back(2);
  int64_t total = 0;
  for (size_t i = 0; i + 1 < widths.size(); ++i) total += (widths[i] + 1) * widths[i + 1];
  parameters_ = torch::rand({total}, stream.generator(), torch::kFloat) * 2 - 1;
  gradients_ = torch::zeros({total});
  first_ = torch::zeros({total});
  second_ = torch::zeros({total});
  steps_ = 0;
  layers_.clear();
  int64_t at = 0;
  for (size_t i = 0; i + 1 < widths.size(); ++i) {
    const auto values = widths[i] * widths[i + 1];
    const auto part = [&](const Tensor& flat, int64_t from, int64_t length) {
      return flat.slice(0, from, from + length);
    };
    Layer layer;
    layer.weight = part(parameters_, at, values).view({widths[i], widths[i + 1]});
    layer.weight_grad = part(gradients_, at, values).view({widths[i], widths[i + 1]});
    layer.bias = part(parameters_, at + values, widths[i + 1]);
    layer.bias_grad = part(gradients_, at + values, widths[i + 1]);
    // PyTorch's default initialisation.
    part(parameters_, at, values + widths[i + 1])
        .mul_(1 / std::sqrt(static_cast<double>(widths[i])));
    layers_.push_back(layer);
    at += values + widths[i + 1];
  }
}

// The input of every layer, and the outputs of the last.
std::vector<Tensor> MembershipNet::forward(const Tensor& x) const {
  std::vector<Tensor> values{x};
  for (size_t i = 0; i < layers_.size(); ++i) {
    auto next = torch::addmm(layers_[i].bias, values.back(), layers_[i].weight);
    if (i + 1 < layers_.size()) next.relu_();
    values.push_back(next);
  }
  return values;
}

void MembershipNet::backward(const std::vector<Tensor>& values, Tensor slope) {
  for (size_t i = layers_.size(); i-- > 0;) {
    auto& layer = layers_[i];
    torch::mm_out(layer.weight_grad, values[i].t(), slope);
    torch::sum_out(layer.bias_grad, slope, 0);
    if (i == 0) return;
    // relu passes on what was above 0.
    slope = torch::threshold_backward(slope.mm(layer.weight.t()), values[i], 0);
  }
}

void MembershipNet::step() {
  constexpr double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  ++steps_;
  const double correct1 = 1 - std::pow(beta1, steps_), correct2 = 1 - std::pow(beta2, steps_);
  first_.lerp_(gradients_, 1 - beta1);
  second_.mul_(beta2).addcmul_(gradients_, gradients_, 1 - beta2);
  const auto spread = second_.sqrt().mul_(1 / std::sqrt(correct2)).add_(epsilon);
  parameters_.addcdiv_(first_, spread, -lr_ / correct1);
}

void MembershipNet::learn(const Tensor& features, const Tensor& member, const Stream& stream) {
  const torch::NoGradGuard no_grad;
  const auto x = features.to(torch::kFloat).contiguous();
  const auto sides = torch::stack({member.logical_not(), member}, 1).to(torch::kFloat);
  build(x.size(1), stream.at("init"));
  const auto n = x.size(0);
  for (int64_t epoch = 0; epoch < epochs_; ++epoch) {
    const auto order = torch::randperm(
        n, stream.at("order", static_cast<uint64_t>(epoch)).generator(), torch::kLong);
    const auto mixed = x.index_select(0, order), truth = sides.index_select(0, order);
    for (int64_t at = 0; at < n; at += batch_) {
      const auto size = std::min(batch_, n - at);
      const auto values = forward(mixed.narrow(0, at, size));
      auto slope = values.back().softmax(1).sub_(truth.narrow(0, at, size));
      backward(values, slope.div_(static_cast<double>(size)));
      step();
    }
  }
}

Tensor MembershipNet::log_odds(const Tensor& features) const {
  const torch::NoGradGuard no_grad;
  const auto outputs = forward(features.to(torch::kFloat)).back().to(torch::kDouble);
  return outputs.select(1, 1) - outputs.select(1, 0);
}

}  // namespace imprint
