#pragma once

#include <map>
#include <string>
#include <vector>

#include "framework/data/dataset.h"
#include "framework/training/layers.h"

namespace imprint {

/// What a model is built for; defenses may change it before it is built.
struct Shape {
  std::vector<int64_t> input;  ///< of one record: {600} or {3, 32, 32}
  int64_t outputs = 0;         ///< the number of classes, or 1 for the one-output losses
  double dropout = 0;          ///< before the last layer

  /// Numbers per record.
  int64_t features() const;
};

/// A network. Components in models/; constructor (Keys, const Shape&).
class Model : public torch::nn::Module {
 public:
  /// Logits [n, outputs] of records [n, input...].
  virtual Tensor forward(const Tensor& x) = 0;

  /// Whether `backward` knows the gradients in closed form, so that training needs no autograd
  /// through the network.
  virtual bool has_closed_form() const { return false; }

  /// Sets every parameter's `grad` from `slope` = d loss / d logits at the last `forward(x)`.
  virtual void backward(const Tensor& x, const Tensor& slope);
};

using ModelRegistry = Registry<Model, const Shape&>;

/// IMPRINT_MODEL(Type, "name", "summary", "paper or origin");
#define IMPRINT_MODEL(Type, name, summary, origin)                                             \
  static const ::imprint::Registration<::imprint::ModelRegistry, Type> registration_of_##Type( \
      {"model", name, summary, origin, __FILE__, {}})

/// Moves a network to a device and its floating-point tensors to a type; counters stay integers.
void place(torch::nn::Module& model, torch::ScalarType type, const torch::Device& device);

/// Parameters and buffers by the names that PyTorch gives them, in the order of the network.
std::vector<std::pair<std::string, Tensor>> named_weights(const torch::nn::Module& network);

/// Copies `weights` into a network, whose names and shapes must be the same (a "module." before all
/// of them aside, and counters of batches, which may be missing). Throws ConfigError naming `file`
/// and what differs.
void set_weights(torch::nn::Module& network, std::map<std::string, Tensor> weights,
                 const std::string& file);

/// Number of trainable numbers.
int64_t parameter_count(const Model& model);

/// The logits of all classes [n, classes]: a one-output net's (0, phi), any other's own.
Tensor class_logits(const Tensor& logits);

/// [n] probability of the true class, from logits of all classes.
Tensor true_class_probability(const Tensor& logits, const Tensor& y);

/// [n] weight (1 - p)^gamma of the focal loss; its slope is finite for any gamma, also at p = 1.
Tensor focal_weight(const Tensor& p, double gamma);

}  // namespace imprint
