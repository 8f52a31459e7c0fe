#include "framework/training/tape.h"

#include <torch/csrc/autograd/autograd.h>

#include <set>

namespace imprint {
namespace {

thread_local Tape* current_tape = nullptr;

}  // namespace

Tensor Layer::squared_norms(const Tensor&, const Tensor&) const {
  TORCH_CHECK(false, "this layer knows no per-record gradients");
}

Tensor Layer::absolute_sums(const Tensor&, const Tensor&) const {
  TORCH_CHECK(false, "this layer knows no per-record gradients");
}

Tensor Layer::gram(const Tensor&, const Tensor&) const {
  TORCH_CHECK(false, "this layer knows no per-record gradients");
}

void Layer::set_gradients(const Tensor&, const Tensor&, const Tensor&) {
  TORCH_CHECK(false, "this layer knows no per-record gradients");
}

Tensor Layer::taped(const Tensor& input, Tensor output) {
  if (auto* tape = Tape::current()) tape->uses.push_back({this, input, output});
  return output;
}

Tape::Tape() : outer_(current_tape) { current_tape = this; }
void Tape::close() {
  if (open_) current_tape = outer_;
  open_ = false;
}
Tape* Tape::current() { return current_tape; }

PerRecord per_record(const Tape& tape, const Tensor& losses) {
  TORCH_CHECK(!tape.uses.empty(),
              "this model kept no tape, so per-record gradients are not known; build it from "
              "framework/training/layers.h");
  std::vector<Tensor> outputs;
  std::set<Layer*> seen;
  for (const auto& use : tape.uses) {
    TORCH_CHECK(seen.insert(use.layer).second,
                "per-record gradients need every layer to run once per forward pass");
    outputs.push_back(use.output);
  }
  const auto backs = torch::autograd::grad({losses.sum()}, outputs);
  PerRecord records;
  // Products may have been computed in fewer bits than the weights have.
  const auto type = losses.scalar_type();
  for (size_t i = 0; i < backs.size(); ++i)
    records.layers_.push_back(
        {tape.uses[i].layer, tape.uses[i].input.detach().to(type), backs[i].to(type)});
  return records;
}

Tensor PerRecord::added(Part part) const {
  const torch::NoGradGuard no_grad;
  Tensor total;
  for (const auto& [layer, input, back] : layers_) {
    const auto own = (layer->*part)(input, back);
    total = total.defined() ? total + own : own;
  }
  return total;
}

Tensor PerRecord::squared_norms() const { return added(&Layer::squared_norms); }
Tensor PerRecord::absolute_sums() const { return added(&Layer::absolute_sums); }
Tensor PerRecord::gram() const { return added(&Layer::gram); }

void PerRecord::set_gradients(const Tensor& weights) const {
  const torch::NoGradGuard no_grad;
  for (const auto& [layer, input, back] : layers_) layer->set_gradients(input, back, weights);
}

}  // namespace imprint
