#include "framework/training/fused_sgd.h"

#include <ATen/ops/_fused_sgd.h>

namespace imprint {
namespace {

// Zero to begin with: momentum times zero plus the gradient is the first step's buffer.
torch::Tensor momentum_buffer(std::unique_ptr<torch::optim::OptimizerParamState>& state,
                              const torch::Tensor& parameter) {
  if (!state) {
    auto fresh = std::make_unique<torch::optim::SGDParamState>();
    fresh->momentum_buffer(torch::zeros_like(parameter));
    state = std::move(fresh);
  }
  return static_cast<torch::optim::SGDParamState&>(*state).momentum_buffer();
}

}  // namespace

torch::Tensor FusedSgd::step(LossClosure closure) {
  TORCH_CHECK(closure == nullptr, "this optimizer takes no closure");
  const torch::NoGradGuard no_grad;
  for (auto& group : param_groups_) {
    const auto& options = static_cast<torch::optim::SGDOptions&>(group.options());
    std::vector<torch::Tensor> parameters, gradients, buffers;
    for (const auto& parameter : group.params()) {
      if (!parameter.grad().defined()) continue;
      // The kernel walks memory: parameter, gradient and buffer must lie in the same order.
      TORCH_CHECK(parameter.is_contiguous(), "parameters must be contiguous, not ",
                  parameter.strides(), " for ", parameter.sizes());
      parameters.push_back(parameter);
      gradients.push_back(parameter.grad().contiguous());
      if (options.momentum() != 0)
        buffers.push_back(momentum_buffer(state_[parameter.unsafeGetTensorImpl()], parameter));
    }
    if (parameters.empty()) continue;
    at::_fused_sgd_(parameters, gradients, buffers, options.weight_decay(), options.momentum(),
                    options.lr(), options.dampening(), options.nesterov(), /*maximize=*/false,
                    /*is_first_step=*/false);
  }
  return {};
}

}  // namespace imprint
