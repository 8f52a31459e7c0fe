#include "framework/training/layers.h"

#include <torch/csrc/autograd/autograd.h>
#include <torch/nn/init.h>

#include <cmath>
#include <set>

namespace imprint {
namespace {

thread_local Tape* current_tape = nullptr;

}  // namespace

Linear::Linear(int64_t inputs, int64_t outputs, bool with_bias) {
  const double bound = 1 / std::sqrt(static_cast<double>(inputs));
  weight = register_parameter("weight", torch::empty({outputs, inputs}));
  torch::nn::init::uniform_(weight, -bound, bound);
  if (!with_bias) return;
  bias = register_parameter("bias", torch::empty({outputs}));
  torch::nn::init::uniform_(bias, -bound, bound);
}

Tensor Linear::forward(const Tensor& x) {
  auto output = torch::linear(x, weight, bias);
  if (auto* tape = Tape::current()) tape->uses.push_back({this, x, output});
  return output;
}

Tensor Dropout::forward(const Tensor& x) { return torch::dropout(x, rate_, is_training()); }

Tape::Tape() : outer_(current_tape) { current_tape = this; }
void Tape::close() {
  if (open_) current_tape = outer_;
  open_ = false;
}
Tape* Tape::current() { return current_tape; }

PerRecord per_record(const Tape& tape, const Tensor& losses) {
  std::vector<Tensor> outputs;
  std::set<Linear*> seen;
  for (const auto& use : tape.uses) {
    TORCH_CHECK(seen.insert(use.layer).second,
                "per-record gradients need every layer to run once per forward pass");
    outputs.push_back(use.output);
  }
  const auto backs = torch::autograd::grad({losses.sum()}, outputs);
  PerRecord records;
  for (size_t i = 0; i < backs.size(); ++i)
    records.layers_.push_back({tape.uses[i].layer, tape.uses[i].input.detach(), backs[i]});
  return records;
}

Tensor PerRecord::squared_norms() const {
  Tensor total;
  for (const auto& [layer, input, back] : layers_) {
    auto inputs = input.square().sum(1);
    if (layer->bias.defined()) inputs = inputs + 1;
    const auto norms = inputs * back.square().sum(1);
    total = total.defined() ? total + norms : norms;
  }
  return total;
}

Tensor PerRecord::gram() const {
  Tensor total;
  for (const auto& [layer, input, back] : layers_) {
    auto inputs = input.mm(input.t());
    if (layer->bias.defined()) inputs = inputs + 1;
    const auto products = inputs * back.mm(back.t());
    total = total.defined() ? total + products : products;
  }
  return total;
}

void PerRecord::set_gradients(const Tensor& weights) const {
  const torch::NoGradGuard no_grad;
  for (const auto& [layer, input, back] : layers_) {
    const auto scaled = back * weights.unsqueeze(1);
    layer->weight.mutable_grad() = scaled.t().mm(input);
    if (layer->bias.defined()) layer->bias.mutable_grad() = scaled.sum(0);
  }
}

}  // namespace imprint
