#include "framework/training/state.h"

#include <fmt/format.h>
#include <torch/optim/adam.h>
#include <torch/optim/sgd.h>

namespace imprint {

void State::tensor(const std::string& name, Tensor& value) {
  if (direction_ == Direction::save) {
    tensors[prefix + name] = value.detach().clone();
    return;
  }
  const auto found = tensors.find(prefix + name);
  TORCH_CHECK(found != tensors.end(), "the saved state has no '", name, "'");
  const torch::NoGradGuard no_grad;
  if (value.defined() && value.sizes() == found->second.sizes())
    value.copy_(found->second);
  else
    value = found->second.clone();
}

void State::module(const std::string& name, torch::nn::Module& module) {
  for (auto& parameter : module.named_parameters())
    tensor(name + "." + parameter.key(), parameter.value());
  for (auto& buffer : module.named_buffers()) tensor(name + "." + buffer.key(), buffer.value());
}

// LibTorch's own archive of an optimizer names parameters by their addresses in memory, so that no
// two are the same bytes; here they are numbered.
void State::optimizer(const std::string& name, torch::optim::Optimizer& optimizer) {
  int64_t number = 0;
  for (auto& group : optimizer.param_groups()) {
    for (const auto& parameter : group.params()) {
      const auto its = fmt::format("{}.{}.", name, number++);
      auto* key = parameter.unsafeGetTensorImpl();
      // Optimizers take an entry, even an empty one, for a step that was done.
      OptimizerState fresh;
      const auto found = optimizer.state().find(key);
      auto& state = found == optimizer.state().end() ? fresh : found->second;
      if (dynamic_cast<torch::optim::SGD*>(&optimizer) != nullptr)
        momentum(its, state);
      else if (dynamic_cast<torch::optim::Adam*>(&optimizer) != nullptr)
        moments(its, state);
      else
        TORCH_CHECK(false, "the state of this optimizer cannot be saved; use SGD or Adam");
      if (fresh) optimizer.state()[key] = std::move(fresh);
    }
  }
}

// Whether there is such a state to visit: before the first step there is none.
template <class Kind>
Kind* State::kept(const std::string& first, OptimizerState& state) {
  if (direction_ == Direction::load && !tensors.contains(prefix + first)) return nullptr;
  if (direction_ == Direction::load && !state) state = std::make_unique<Kind>();
  return static_cast<Kind*>(state.get());
}

void State::momentum(const std::string& name, OptimizerState& state) {
  auto* kept_state = kept<torch::optim::SGDParamState>(name + "momentum", state);
  if (kept_state == nullptr ||
      (direction_ == Direction::save && !kept_state->momentum_buffer().defined()))
    return;
  tensor(name + "momentum", kept_state->momentum_buffer());
}

void State::moments(const std::string& name, OptimizerState& state) {
  auto* kept_state = kept<torch::optim::AdamParamState>(name + "step", state);
  if (kept_state == nullptr) return;
  auto step = torch::tensor(kept_state->step(), torch::kLong);
  tensor(name + "step", step);
  kept_state->step(step.item<int64_t>());
  tensor(name + "mean", kept_state->exp_avg());
  tensor(name + "square", kept_state->exp_avg_sq());
}

}  // namespace imprint
