#include "framework/training/model.h"

#include <algorithm>
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

std::vector<std::pair<std::string, Tensor>> named_weights(const torch::nn::Module& network) {
  std::vector<std::pair<std::string, Tensor>> weights;
  for (const auto& module : network.named_modules("", true)) {
    const auto add = [&](const auto& own) {
      for (const auto& each : own) {
        auto name = module.key().empty() ? each.key() : module.key() + "." + each.key();
        // A name that LibTorch would not take as it is was registered with slashes.
        std::replace(name.begin(), name.end(), '/', '.');
        weights.emplace_back(name, each.value());
      }
    };
    add(module.value()->named_parameters(false));
    add(module.value()->named_buffers(false));
  }
  return weights;
}

void set_weights(torch::nn::Module& network, std::map<std::string, Tensor> weights,
                 const std::string& file) {
  const auto refuse = [&](const std::string& why) {
    throw ConfigError(fmt::format("{}: {}", file, why));
  };
  const std::string wrapper = "module.";
  if (std::all_of(weights.begin(), weights.end(),
                  [&](const auto& each) { return each.first.starts_with(wrapper); })) {
    std::map<std::string, Tensor> unwrapped;
    for (const auto& [name, value] : weights) unwrapped[name.substr(wrapper.size())] = value;
    weights = std::move(unwrapped);
  }
  std::vector<std::string> given;
  for (const auto& [name, value] : weights) given.push_back(name);
  const torch::NoGradGuard no_grad;
  for (auto& [name, value] : named_weights(network)) {
    const auto found = weights.find(name);
    if (found == weights.end()) {
      if (name.ends_with("num_batches_tracked")) continue;
      refuse(fmt::format("has no weights '{}'{}", name, did_you_mean(name, given)));
    }
    if (found->second.sizes() != value.sizes())
      refuse(fmt::format("'{}' has shape {}, the model's has {}", name,
                         c10::str(found->second.sizes()), c10::str(value.sizes())));
    value.copy_(found->second);
    weights.erase(found);
  }
  if (!weights.empty())
    refuse(fmt::format("holds '{}', which the model has not", weights.begin()->first));
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

Tensor focal_weight(const Tensor& p, double gamma) {
  if (gamma == 0) return torch::ones_like(p);
  return (1 - p).clamp_min(1e-12).pow(gamma);
}

}  // namespace imprint
