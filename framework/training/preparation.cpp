#include "framework/training/preparation.h"

#include <fmt/ranges.h>

namespace imprint {
namespace {

// A network that sees (x - shift) / scale.
class Prepared final : public Model {
 public:
  Prepared(std::shared_ptr<Model> network, const Tensor& shift, const Tensor& scale)
      : network_(register_module("network", std::move(network))),
        shift_(register_buffer("shift", shift)),
        scale_(register_buffer("scale", scale)) {}

  Tensor forward(const Tensor& x) override { return network_->forward((x - shift_) / scale_); }
  bool has_closed_form() const override { return network_->has_closed_form(); }
  void backward(const Tensor& x, const Tensor& slope) override {
    network_->backward((x - shift_) / scale_, slope);
  }

  Model& network() { return *network_; }

 private:
  std::shared_ptr<Model> network_;
  Tensor shift_, scale_;
};

struct Moments {
  Tensor mean, deviation;  // of each number of a record
};

// In two passes over chunks, in double precision.
Moments moments(const Records& records) {
  constexpr int64_t chunk = 4096;
  const auto n = records.size();
  if (n == 0) return {torch::zeros(records.shape()), torch::ones(records.shape())};
  const auto summed = [&](const auto& of) {
    auto total = torch::zeros(records.shape(), torch::kDouble);
    for (int64_t at = 0; at < n; at += chunk)
      total += of(as_input(records.rows(at, std::min(at + chunk, n)), torch::kDouble, torch::kCPU))
                   .sum(0);
    return total / n;
  };
  const auto mean = summed([](const Tensor& x) { return x; });
  return {mean, summed([&](const Tensor& x) { return (x - mean).square(); }).sqrt()};
}

// Means and deviations of whole channels from those of every pixel.
Moments by_channel(const Moments& each) {
  const auto mean = each.mean.mean({1, 2}, true);
  const auto variance = (each.deviation.square() + (each.mean - mean).square()).mean({1, 2}, true);
  return {mean, variance.sqrt()};
}

Tensor channels(const std::vector<double>& values) {
  return torch::tensor(values, torch::kDouble).view({-1, 1, 1});
}

}  // namespace

std::string Preparation::text() const {
  return fmt::format("normalise {} [{}] [{}] centre {} crop {} flip {}", normalise,
                     fmt::join(mean, " "), fmt::join(deviation, " "), centre, augment.crop,
                     augment.flip);
}

std::shared_ptr<Model> prepared(std::shared_ptr<Model> network, const Preparation& preparation,
                                const Records& members) {
  const auto& [normalise, centre, mean, deviation, augment] = preparation;
  if (normalise == "off" && !centre) return network;
  const bool images = members.shape().size() == 3;
  const bool constants = normalise == "standard";
  Moments each{torch::zeros(members.shape()), torch::ones(members.shape())};
  if (centre || normalise == "members") each = moments(members);
  Moments used = images ? by_channel(each) : each;
  if (constants) used = {channels(mean), channels(deviation)};
  const auto shift = centre ? each.mean : used.mean;
  const auto scale = normalise == "off" ? torch::ones_like(shift) : used.deviation;
  // A feature that never varies is only shifted.
  return std::make_shared<Prepared>(std::move(network), shift, scale.masked_fill(scale.eq(0), 1));
}

Model& network_of(Model& model) {
  auto* prepared = model.as<Prepared>();
  return prepared == nullptr ? model : prepared->network();
}

}  // namespace imprint
