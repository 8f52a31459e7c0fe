#include "framework/training/schedule.h"

#include <torch/optim/adam.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "framework/training/fused_sgd.h"

namespace imprint {
namespace {

int64_t batch_key(Keys keys) {
  const std::string text =
      keys.text("batch", "128").doc("records per step, or all for full-batch descent");
  const auto number = as_integer(Value::scalar(text));
  if (text == "all") return 0;
  if (!number || *number < 1)
    keys.problem("batch",
                 fmt::format("batch must be all or an integer of at least 1, not '{}'", text));
  return number.value_or(1);
}

std::string precision_key(Keys keys) {
  return keys.choice("precision", {"float32", "float64", "bfloat16"})
      .doc(
          "of weights and records; bfloat16: of products and convolutions while training, weights "
          "and answers stay float32");
}

Due due_keys(Keys keys, int64_t every, const std::string& what) {
  Due due;
  due.every = keys.integer("every", every).at_least(1).doc("epochs between two that are " + what);
  due.per_decade =
      keys.integer("log", 0).at_least(0).doc("instead: that many per power of ten of epochs");
  // A resolved file writes out both, one of them at its default.
  if (due.per_decade > 0 && due.every != every) keys.problem("log", "give every or log, not both");
  return due;
}

}  // namespace

bool Due::operator()(int64_t epoch, int64_t epochs) const {
  if (epoch == epochs) return true;
  if (per_decade == 0) return epoch % every == 0;
  // Due when rounding down on the logarithmic grid gives another value than one epoch earlier.
  const auto grid = [&](int64_t e) {
    return std::floor(std::log10(static_cast<double>(e)) * static_cast<double>(per_decade) + 1e-9);
  };
  return epoch == 1 || grid(epoch) != grid(epoch - 1);
}

Schedule::Schedule(Keys keys)
    : epochs(keys.integer("epochs", 60).at_least(1).doc("passes over the members")),
      batch(batch_key(keys)),
      optimizer(
          keys.section("optimizer").choice("name", {"sgd", "adam"}).doc("how a step is taken")),
      lr(keys.section("optimizer")
             .number("lr", optimizer == "adam" ? 1e-3 : 0.1)
             .above(0)
             .doc("learning rate")),
      momentum(keys.section("optimizer")
                   .number("momentum", optimizer == "adam" ? 0.9 : 0)
                   .within(0, 0.9999)
                   .doc("of sgd; beta1 of adam")),
      weight_decay(
          keys.section("optimizer").number("weight_decay", 0).at_least(0).doc("on all parameters")),
      nesterov(keys.section("optimizer").flag("nesterov", false).doc("sgd only")),
      milestones(keys.integers("milestones", {})
                     .at_least(1)
                     .doc("epochs after which the learning rate is multiplied by decay")),
      decay(keys.number("decay", 0.1).above(0).doc("at each milestone")),
      anneal(keys.choice("anneal", {"none", "cosine"}).doc("cosine: from lr to 0 over all epochs")),
      sampling(keys.choice("sampling", {"auto", "shuffle", "without_replacement",
                                        "with_replacement", "poisson"})
                   .doc("auto: what the defense needs, else shuffle, a permutation per epoch; the "
                        "others draw every step anew")),
      loss(keys.choice("loss", BaseLoss::names())
               .doc("before any defense; the last three use one output and two classes")),
      type(torch::kFloat32),
      bfloat16(false),
      record(due_keys(keys.section("record"), 1, "recorded")),
      evaluate(due_keys(keys.section("evaluate"), std::max<int64_t>(1, (epochs + 9) / 10),
                        "evaluated")) {
  const auto precision = precision_key(keys);
  if (precision == "float64") type = torch::kFloat64;
  bfloat16 = precision == "bfloat16";
  if (nesterov && (optimizer != "sgd" || momentum == 0))
    keys.problem("optimizer", "nesterov needs sgd with a momentum above 0");
  if (!milestones.empty() && anneal == "cosine")
    keys.problem("milestones", "give milestones or anneal: cosine, not both");
}

double Schedule::lr_at(int64_t epoch) const {
  if (anneal == "cosine")
    return lr *
           (1 +
            std::cos(std::numbers::pi * static_cast<double>(epoch) / static_cast<double>(epochs))) /
           2;
  const auto passed =
      std::count_if(milestones.begin(), milestones.end(), [&](int64_t m) { return epoch >= m; });
  return lr * std::pow(decay, static_cast<double>(passed));
}

std::unique_ptr<torch::optim::Optimizer> Schedule::make_optimizer(
    std::vector<Tensor> parameters) const {
  if (optimizer == "adam") {
    auto options = torch::optim::AdamOptions(lr).weight_decay(weight_decay);
    options.betas({momentum, 0.999});
    return std::make_unique<torch::optim::Adam>(std::move(parameters), options);
  }
  return std::make_unique<FusedSgd>(std::move(parameters), torch::optim::SGDOptions(lr)
                                                               .momentum(momentum)
                                                               .weight_decay(weight_decay)
                                                               .nesterov(nesterov));
}

std::vector<Tensor> draw_batches(const std::string& sampling, int64_t members, int64_t batch,
                                 const Stream& stream) {
  const auto size = batch == 0 ? members : std::min(batch, members);
  const auto steps = (members + size - 1) / size;
  if (sampling == "shuffle" || sampling == "auto") {
    if (size == members) return {torch::arange(members)};
    const auto order = torch::randperm(members, stream.generator(), torch::kLong);
    auto split = order.split(size);
    return split;
  }
  std::vector<Tensor> batches;
  auto generator = stream.generator();
  for (int64_t step = 0; step < steps; ++step) {
    if (sampling == "poisson") {
      const auto rate = static_cast<double>(size) / static_cast<double>(members);
      batches.push_back(
          torch::rand({members}, generator, torch::kDouble).lt(rate).nonzero().squeeze(1));
    } else if (sampling == "with_replacement") {
      batches.push_back(torch::randint(0, members, {size}, generator, torch::kLong));
    } else {
      batches.push_back(torch::randperm(members, generator, torch::kLong).slice(0, 0, size));
    }
  }
  return batches;
}

}  // namespace imprint
