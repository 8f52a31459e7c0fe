#include "framework/training/model.h"

#include <functional>
#include <numeric>

namespace imprint {

template <>
ModelRegistry& ModelRegistry::instance() {
  static ModelRegistry registry;
  return registry;
}

int64_t Shape::features() const {
  return std::accumulate(input.begin(), input.end(), int64_t{1}, std::multiplies<>());
}

void Model::backward(const Tensor&, const Tensor&) {
  TORCH_CHECK(false, "this model has no closed-form gradient");
}

void place(torch::nn::Module& model, torch::ScalarType type, const torch::Device& device) {
  const auto moved = [&](const Tensor& tensor) {
    return tensor.is_floating_point() ? tensor.to(device, type) : tensor.to(device);
  };
  for (auto& parameter : model.parameters()) parameter.set_data(moved(parameter));
  for (auto& buffer : model.buffers()) buffer.set_data(moved(buffer));
}

int64_t parameter_count(const Model& model) {
  int64_t count = 0;
  for (const auto& parameter : model.parameters()) count += parameter.numel();
  return count;
}

Tensor class_logits(const Tensor& logits) {
  if (logits.size(1) != 1) return logits;
  return torch::cat({torch::zeros_like(logits), logits}, 1);
}

Tensor true_class_probability(const Tensor& logits, const Tensor& y) {
  return class_logits(logits).log_softmax(1).gather(1, y.unsqueeze(1)).squeeze(1).exp();
}

}  // namespace imprint
