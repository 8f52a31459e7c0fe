#pragma once

#include <string>

#include "framework/training/defense.h"

namespace imprint {

/// The base loss of a training, before any defense.
///
/// `cross_entropy` and `mse` (to the one-hot label) use one output per class. `logistic`,
/// `exponential` and `margin` use one output phi and labels -1, +1: log(1 + exp(-m)), exp(-m) and
/// the softmin of the margins m = y phi over the batch, ever sharper, whose ascent on the sphere
/// leads to a KKT point of the max-margin problem.
class BaseLoss {
 public:
  explicit BaseLoss(std::string name) : name_(std::move(name)) {}

  static std::vector<std::string> names();
  const std::string& name() const { return name_; }
  bool one_output() const {
    return name_ == "logistic" || name_ == "exponential" || name_ == "margin";
  }
  /// Whether the parameters are projected onto the unit sphere after each step.
  bool on_sphere() const { return name_ == "margin"; }

  /// [n], each record's loss. `sharpness` matters to `margin` only.
  Tensor operator()(const Tensor& logits, const Batch& batch, double sharpness) const;

 private:
  std::string name_;
};

}  // namespace imprint
