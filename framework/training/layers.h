#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <memory>
#include <vector>

#include "framework/data/dataset.h"

namespace imprint {

/// A fully connected layer with PyTorch's default initialisation, U(+-1/sqrt(inputs)). Models are
/// built from our own layers because LibTorch's have no hooks: under a Tape ours keep what
/// per-record gradients need.
class Linear : public torch::nn::Module {
 public:
  Linear(int64_t inputs, int64_t outputs, bool with_bias = true);
  Tensor forward(const Tensor& x);

  Tensor weight, bias;  ///< [outputs, inputs]; [outputs], undefined without a bias
};

/// Zeroes each input with probability `rate` while training, scaling the rest.
class Dropout : public torch::nn::Module {
 public:
  explicit Dropout(double rate) : rate_(rate) {}
  Tensor forward(const Tensor& x);

 private:
  double rate_;
};

/// Until it is closed, every layer run on this thread keeps its input and output here.
class Tape {
 public:
  Tape();
  ~Tape() { close(); }
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  /// Stops recording; what was recorded stays.
  void close();

  /// The tape that layers write to, or null.
  static Tape* current();

  struct Use {
    Linear* layer;
    Tensor input, output;  ///< [n, inputs], [n, outputs]
  };
  std::vector<Use> uses;

 private:
  Tape* outer_;
  bool open_ = true;
};

/// Gradients of each record's own loss with respect to all parameters, never formed: a linear
/// layer's gradient is the outer product of what comes back (d) and what went in (a), so norms,
/// inner products and weighted sums follow from the factors.
class PerRecord {
 public:
  /// [n] squared Euclidean norms.
  Tensor squared_norms() const;
  /// [n, n] inner products.
  Tensor gram() const;
  /// Sets every parameter's `grad` to the sum over records of weight[i] times record i's gradient.
  void set_gradients(const Tensor& weights) const;

 private:
  friend PerRecord per_record(const Tape& tape, const Tensor& losses);
  struct Factors {
    Linear* layer;
    Tensor input, back;
  };
  std::vector<Factors> layers_;
};

/// Needs the tape of the forward pass that `losses` [n] came from, record i's loss depending on
/// record i alone. One backward pass; refuses a layer that was used twice.
PerRecord per_record(const Tape& tape, const Tensor& losses);

}  // namespace imprint
