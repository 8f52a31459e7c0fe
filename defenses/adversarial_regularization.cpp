#include <torch/optim/adam.h>

#include "framework/training/defense.h"
#include "framework/training/evaluation.h"

namespace imprint::adversarial_regularization {
namespace {

/// The inner attacker h(logits, label): member probability. Logits and label each through layers of
/// their own, then together (Nasr et al. 2018, in MLHospital's sizes).
class Attacker final : public torch::nn::Module {
 public:
  explicit Attacker(int64_t classes) {
    for (const auto& [name, widths] :
         {std::pair<std::string, std::vector<int64_t>>{"logits", {classes, 1024, 512, 64}},
          {"label", {classes, 128, 64}},
          {"both", {128, 256, 128, 64, 1}}})
      for (size_t i = 0; i + 1 < widths.size(); ++i)
        parts_[name].push_back(register_module(name + std::to_string(i),
                                               std::make_shared<Linear>(widths[i], widths[i + 1])));
  }

  /// [n] logits of membership; the label is coded -1, +1.
  Tensor forward(const Tensor& logits, const Tensor& y) {
    const auto label = torch::one_hot(y, logits.size(1)).to(logits.scalar_type()) * 2 - 1;
    return through(
               "both",
               torch::cat({through("logits", logits).relu(), through("label", label).relu()}, 1))
        .squeeze(1);
  }

 private:
  Tensor through(const std::string& part, Tensor x) {
    auto& layers = parts_.at(part);
    for (size_t i = 0; i < layers.size(); ++i) {
      x = layers[i]->forward(x);
      if (i + 1 < layers.size()) x = x.relu();
    }
    return x;
  }

  std::map<std::string, std::vector<std::shared_ptr<Linear>>> parts_;
};

/// Adversarial regularisation (Nasr et al. 2018, Eq. 6-8): an inner attacker learns to tell members
/// from reference records by the model's answers; the model minimises CE + w h(member). After each
/// epoch the attacker makes one pass over frozen answers; its term starts after the warm-up.
///
/// Keys: weight (1), warmup (1), attacker_lr (0.001), attacker_batch (128).
class AdversarialRegularization final : public Defense {
 public:
  explicit AdversarialRegularization(Keys keys)
      : weight_(keys.number("weight", 1).at_least(0).doc("w, strength of the attacker's term")),
        warmup_(keys.integer("warmup", 1)
                    .at_least(0)
                    .doc("epochs of plain training, while the attacker learns")),
        lr_(keys.number("attacker_lr", 1e-3).above(0).doc("Adam's learning rate for the attacker")),
        batch_(keys.integer("attacker_batch", 128)
                   .at_least(1)
                   .doc("members, and as many reference records, per attacker step")) {}

  Demands demands() const override { return {.reference = true, .sampling = {}}; }

  Tensor loss(Tensor losses, const Tensor& logits, const Batch& batch, const Step& step) override {
    if (step.epoch < warmup_ || weight_ == 0 || !attacker_) return losses;
    const auto h = attacker_->forward(class_logits(logits), batch.y).sigmoid();
    return losses + weight_ * (h - 0.5);
  }

  void epoch(const Step& step) override {
    if (weight_ == 0) return;
    const auto& [train, test, reference, population, tune] = step.split;
    if (!attacker_) start(step);
    const auto members =
        queried_logits(step.model, {}, train.x, step.type, step.device).to(step.device);
    const auto others =
        queried_logits(step.model, {}, reference.x, step.type, step.device).to(step.device);
    auto generator = step.stream.at("attacker", static_cast<uint64_t>(step.epoch)).generator();
    const auto order = torch::randperm(train.size(), generator, torch::kLong);
    const auto pick = [&](const Tensor& logits, const Tensor& y, const Tensor& rows) {
      const auto index = rows.to(step.device);
      return attacker_->forward(logits.index_select(0, index),
                                y.to(step.device).index_select(0, index));
    };
    for (const auto& in : order.split(batch_)) {
      const auto out = torch::randint(0, reference.size(), in.sizes(), generator, torch::kLong);
      optimizer_->zero_grad();
      const auto h_in = pick(members, train.y, in);
      const auto h_out = pick(others, reference.y, out);
      (torch::softplus(-h_in).mean() + torch::softplus(h_out).mean()).backward();
      optimizer_->step();
    }
  }

  void state(State& state) override {
    if (!attacker_) return;
    state.module("adversarial_regularization.attacker", *attacker_);
    state.optimizer("adversarial_regularization.optimizer", *optimizer_);
  }

 private:
  void start(const Step& step) {
    torch::manual_seed(step.stream.at("attacker/init").seed());
    attacker_ = std::make_shared<Attacker>(step.split.train.classes);
    attacker_->to(step.device, step.type);
    optimizer_ = std::make_unique<torch::optim::Adam>(attacker_->parameters(),
                                                      torch::optim::AdamOptions(lr_));
  }

  double weight_;
  int64_t warmup_;
  double lr_;
  int64_t batch_;
  std::shared_ptr<Attacker> attacker_;
  std::unique_ptr<torch::optim::Adam> optimizer_;
};

IMPRINT_DEFENSE(AdversarialRegularization, "adversarial_regularization",
                "min-max training against an inner membership attacker",
                "Nasr et al., CCS 2018, Eq. 6-8");

}  // namespace
}  // namespace imprint::adversarial_regularization
