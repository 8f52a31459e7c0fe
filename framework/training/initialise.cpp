#include "framework/training/initialise.h"

#include <torch/nn/init.h>

#include <cmath>

namespace imprint {
namespace {

double usual_scale(const std::string& kind) {
  if (kind == "torch") return 1;
  return kind == "haim" ? 1e-4 : 1e-2;
}

}  // namespace

void initialise_convolutions(torch::nn::Module& model, bool fan_out) {
  for (const auto& module : model.modules(/*include_self=*/false)) {
    auto* conv = module->as<Conv2d>();
    if (conv == nullptr) continue;
    const auto fan = conv->weight.numel() / conv->weight.size(fan_out ? 1 : 0);
    torch::nn::init::normal_(conv->weight, 0, std::sqrt(2 / static_cast<double>(fan)));
    if (conv->bias.defined()) torch::nn::init::zeros_(conv->bias);
  }
}

Initialisation::Initialisation(Keys& keys)
    : kind_(keys.choice("init", {"torch", "haim", "gauss"})
                .doc("torch: U(+-1/sqrt(inputs)) times scale; gauss: N(0, scale^2); haim: the "
                     "first layer as gauss, the others as PyTorch does")),
      scale_(keys.number("scale", usual_scale(kind_))
                 .above(0)
                 .doc("of init; by default 1 for torch, 1e-4 for haim, 0.01 for gauss")) {}

void Initialisation::operator()(const std::vector<std::shared_ptr<Linear>>& layers) const {
  const torch::NoGradGuard no_grad;
  for (const auto& layer : layers) {
    if (kind_ == "haim" && layer != layers.front()) return;
    for (auto& parameter : layer->parameters()) {
      if (kind_ == "torch")
        parameter.mul_(scale_);
      else
        torch::nn::init::normal_(parameter, 0, scale_);
    }
  }
}

}  // namespace imprint
