#pragma once

#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>

#include <map>
#include <memory>
#include <string>

#include "framework/data/dataset.h"

namespace imprint {

/// Tensors by name.
using Tensors = std::map<std::string, Tensor>;

/// One visitor for saving and loading: whoever has state names each piece once. When saving, the
/// pieces are copied into `tensors`; when loading, they are copied back into the same objects.
class State {
 public:
  enum class Direction { save, load };

  explicit State(Direction direction) : direction_(direction) {}

  void tensor(const std::string& name, Tensor& value);
  /// All parameters and buffers.
  void module(const std::string& name, torch::nn::Module& module);
  /// What SGD and Adam keep of the steps so far.
  void optimizer(const std::string& name, torch::optim::Optimizer& optimizer);

  Tensors tensors;
  std::string prefix;  ///< put before every name, so that two of a kind do not collide

 private:
  using OptimizerState = std::unique_ptr<torch::optim::OptimizerParamState>;
  template <class Kind>
  Kind* kept(const std::string& first, OptimizerState& state);
  void momentum(const std::string& name, OptimizerState& state);
  void moments(const std::string& name, OptimizerState& state);

  Direction direction_;
};

}  // namespace imprint
