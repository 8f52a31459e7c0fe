#include <torch/csrc/autograd/autograd.h>
#include <torch/optim/adam.h>

#include <cmath>

#include "framework/privacy/attack.h"

namespace imprint::quantile {
namespace {

constexpr int64_t answered_at_once = 1024;

/// No shadow model at all: a regressor learns on population records, which the target never saw,
/// how the target's log-odds phi depend on the record. The score is how far a record is above what
/// a stranger like it would get, (phi - m(x)) / s(x), with m and s by Gaussian likelihood; or, with
/// loss: pinball, phi minus the quantile at 1 - fpr.
///
/// Keys: loss (gaussian | pinball), fpr (0.05), model (auto: cnn for images, mlp for others; or any
/// model by its name), epochs (30), batch (64), lr (1e-3).
class Quantile final : public Attack {
 public:
  explicit Quantile(Keys keys)
      : gaussian_(keys.choice("loss", {"gaussian", "pinball"})
                      .doc("mean and deviation, or the quantile at 1 - fpr")
                      .get() == "gaussian"),
        fpr_(keys.number("fpr", 0.05).above(0).within(0, 1).doc("loss: pinball: which quantile")),
        model_(keys.text("model", "auto")
                   .doc("the regressor's network, a model's name; auto: cnn for "
                        "images, mlp for others")),
        epochs_(keys.integer("epochs", 30).at_least(1).doc("of the regressor's training")),
        batch_(keys.integer("batch", 64).at_least(2).doc("population records per step of it")),
        lr_(keys.number("lr", 1e-3).above(0).doc("Adam's step size")) {
    const auto names = ModelRegistry::instance().names();
    if (model_ != "auto" && std::find(names.begin(), names.end(), model_) == names.end())
      keys.problem("model", fmt::format("there is no model '{}'{} (models: {})", model_,
                                        did_you_mean(model_, names), joined(names)));
  }

  Needs needs() const override {
    return {
        .signal = Needs::Signal::phi, .population = true, .records = true, .one_threshold = true};
  }

  Findings run(const Scene& scene) override {
    const auto known = scene.population();
    const auto phi = known.phi().to(torch::kFloat);
    const auto centre = phi.mean().item<double>();
    const auto scale = std::max(phi.std(/*unbiased=*/false).item<double>(), 1e-6);
    const auto net = learned(known.records(), (phi - centre) / scale, scene.stream());
    const auto [mean, deviation] = predicted(*net, scene.records());
    return {((scene.phi() - centre) / scale - mean) / deviation};
  }

 private:
  std::shared_ptr<Model> fresh(const std::vector<int64_t>& shape, const Stream& stream) const {
    const std::string own =
        shape.size() == 3 ? "{name: cnn, channels: [8, 16], hidden: 32}" : "mlp";
    const auto spec = model_ == "auto" ? parse_yaml(own, "") : Value::scalar(model_);
    // Initialisers know no other generator.
    at::manual_seed(stream.at("init").seed());
    Problems problems;
    auto built = build(ModelRegistry::instance(), "model", spec, problems, {}, Shape{shape, 2, 0});
    problems.raise();
    return built.component;
  }

  std::shared_ptr<Model> learned(const Records& x, const Tensor& phi, const Stream& stream) const {
    const auto net = fresh(x.shape(), stream);
    torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(lr_));
    net->train();
    for (int64_t epoch = 0; epoch < epochs_; ++epoch) {
      const auto order = torch::randperm(
          x.size(), stream.at("order", static_cast<uint64_t>(epoch)).generator(), torch::kLong);
      for (int64_t at = 0; at < x.size(); at += batch_) {
        const auto rows = order.slice(0, at, at + batch_);
        const auto outputs = net->forward(x.at(rows).as_numbers());
        optimizer.zero_grad();
        loss(outputs, phi.index_select(0, rows)).backward();
        optimizer.step();
      }
    }
    net->eval();
    return net;
  }

  Tensor loss(const Tensor& outputs, const Tensor& phi) const {
    const auto away = phi - outputs.select(1, 0);
    if (!gaussian_) return torch::maximum((1 - fpr_) * away, -fpr_ * away).mean();
    const auto log_s = bounded(outputs.select(1, 1));
    return (log_s + away.square() / (2 * (2 * log_s).exp())).mean();
  }

  // A deviation between 1 % and a hundred times that of all.
  static Tensor bounded(const Tensor& log_s) { return 4.6 * (log_s / 4.6).tanh(); }

  std::pair<Tensor, Tensor> predicted(Model& net, const Records& x) const {
    const torch::NoGradGuard no_grad;
    std::vector<Tensor> parts;
    for (const auto& rows : torch::arange(x.size()).split(answered_at_once))
      parts.push_back(net.forward(x.at(rows).as_numbers()).to(torch::kDouble));
    const auto outputs = torch::cat(parts);
    const auto mean = outputs.select(1, 0);
    return {mean, gaussian_ ? bounded(outputs.select(1, 1)).exp() : torch::ones_like(mean)};
  }

  bool gaussian_;
  double fpr_;
  std::string model_;
  int64_t epochs_, batch_;
  double lr_;
};

IMPRINT_ATTACK(Quantile, "quantile", "log-odds above what a regressor expects of a stranger",
               "Bertran et al., NeurIPS 2023");

}  // namespace
}  // namespace imprint::quantile
