#include "framework/training/inner_attacker.h"

#include <torch/optim/adam.h>
#include <torch/optim/sgd.h>

#include <cmath>
#include <numbers>

namespace imprint {
namespace {

std::shared_ptr<Sequence> rectified_layers(int64_t inputs, const std::vector<int64_t>& widths) {
  auto layers = std::make_shared<Sequence>();
  for (size_t i = 0; i < widths.size(); inputs = widths[i++])
    layers->add(std::to_string(i), std::make_shared<Linear>(inputs, widths[i]))
        .add("relu" + std::to_string(i),
             std::make_shared<Apply>([](const Tensor& x) { return x.relu(); }));
  return layers;
}

int64_t last_width(int64_t inputs, const std::vector<int64_t>& widths) {
  return widths.empty() ? inputs : widths.back();
}

}  // namespace

LabelledLogits LabelledLogits::at(const Tensor& rows) const {
  const auto index = rows.to(y.device());
  return {logits.index_select(0, index), y.index_select(0, index)};
}

class InnerAttacker::Network final : public torch::nn::Module {
 public:
  Network(int64_t classes, const InnerAttacker& design) {
    const auto together = last_width(classes, design.logits_) + last_width(classes, design.label_);
    logits_ = register_module("logits", rectified_layers(classes, design.logits_));
    label_ = register_module("label", rectified_layers(classes, design.label_));
    both_ = register_module("both", rectified_layers(together, design.both_));
    last_ =
        register_module("last", std::make_shared<Linear>(last_width(together, design.both_), 1));
  }

  /// [n] log of the odds of membership.
  Tensor forward(const Tensor& logits, const Tensor& y) {
    const auto label = torch::one_hot(y, logits.size(1)).to(logits.scalar_type()) * 2 - 1;
    const auto both = torch::cat({logits_->forward(logits), label_->forward(label)}, 1);
    return last_->forward(both_->forward(both)).squeeze(1);
  }

 private:
  std::shared_ptr<Sequence> logits_, label_, both_;
  std::shared_ptr<Linear> last_;
};

InnerAttacker::InnerAttacker(Keys keys)
    : sorted_(keys.choice("order", {"raw", "sorted"})
                  .doc("of the logits that the attacker is given: by class, or by size")
                  .get() == "sorted"),
      logits_(keys.integers("attacker_logits", {1024, 512, 64})
                  .at_least(1)
                  .doc("widths of the attacker's layers for the logits")),
      label_(keys.integers("attacker_label", {128, 64})
                 .at_least(1)
                 .doc("widths of the attacker's layers for the label")),
      both_(keys.integers("attacker_both", {256, 128, 64})
                .at_least(1)
                .doc("widths of the attacker's layers for both together")),
      mse_(keys.choice("attacker_loss", {"cross_entropy", "mse"})
               .doc("what the attacker minimises")
               .get() == "mse"),
      sgd_(keys.choice("attacker_optimizer", {"adam", "sgd"})
               .doc("sgd: momentum 0.9, weight decay 5e-4, cosine over the epochs")
               .get() == "sgd"),
      lr_(keys.number("attacker_lr", sgd_ ? 0.1 : 1e-3)
              .above(0)
              .doc("the attacker's learning rate; by default 0.001 for adam, 0.1 for sgd")) {}

void InnerAttacker::start(const Step& step) {
  torch::manual_seed(step.stream.at("attacker/init").seed());
  network_ = std::make_shared<Network>(step.split.train.classes, *this);
  network_->to(step.device, step.type);
  const auto parameters = network_->parameters();
  if (sgd_)
    optimizer_ = std::make_unique<torch::optim::SGD>(
        parameters, torch::optim::SGDOptions(lr_).momentum(0.9).weight_decay(5e-4));
  else
    optimizer_ = std::make_unique<torch::optim::Adam>(parameters, torch::optim::AdamOptions(lr_));
}

Tensor InnerAttacker::operator()(const Tensor& logits, const Tensor& y) const {
  return odds({logits, y}).sigmoid();
}

Tensor InnerAttacker::odds(const LabelledLogits& answers) const {
  const auto& [logits, y] = answers;
  return network_->forward(sorted_ ? std::get<0>(logits.sort(1, /*descending=*/true)) : logits, y);
}

void InnerAttacker::learn(const LabelledLogits& members, const LabelledLogits& others,
                          const Step& step) {
  const auto done = static_cast<double>(step.epoch) / static_cast<double>(step.epochs);
  const auto lr = sgd_ ? lr_ * (1 + std::cos(std::numbers::pi * done)) / 2 : lr_;
  for (auto& group : optimizer_->param_groups()) group.options().set_lr(lr);
  optimizer_->zero_grad();
  const auto in = odds(members), out = odds(others);
  const auto loss = mse_ ? (1 - in.sigmoid()).square().mean() + out.sigmoid().square().mean()
                         : torch::softplus(-in).mean() + torch::softplus(out).mean();
  (loss / 2).backward();
  optimizer_->step();
}

void InnerAttacker::state(State& state) {
  state.module("attacker", *network_);
  state.optimizer("attacker.optimizer", *optimizer_);
}

}  // namespace imprint
