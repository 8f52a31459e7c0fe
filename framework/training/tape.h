#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <vector>

#include "framework/data/records.h"

namespace imprint {

/// A layer with one tensor in and one out. Models are built from our own layers because LibTorch's
/// have no hooks: under a Tape ours keep what per-record gradients need.
class Layer : public torch::nn::Module {
 public:
  virtual Tensor forward(const Tensor& x) = 0;

  // Of the gradients of each record's own loss with respect to this layer's parameters, given the
  // layer's `input` [n, ...] and `back` = d (sum of losses) / d output. Layers without parameters
  // are never asked.

  /// [n] squared Euclidean norms.
  virtual Tensor squared_norms(const Tensor& input, const Tensor& back) const;
  /// [n] sums of absolute values.
  virtual Tensor absolute_sums(const Tensor& input, const Tensor& back) const;
  /// [n, n] inner products.
  virtual Tensor gram(const Tensor& input, const Tensor& back) const;
  /// Sets each parameter's `grad` to the sum over records of weight[i] times record i's gradient.
  virtual void set_gradients(const Tensor& input, const Tensor& back, const Tensor& weights);

 protected:
  /// Notes a use on the current tape, if there is one; returns `output`.
  Tensor taped(const Tensor& input, Tensor output);
};

/// Until it is closed, every layer with parameters that runs on this thread keeps its input and
/// output here.
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
    Layer* layer;
    Tensor input, output;
  };
  std::vector<Use> uses;

 private:
  Tape* outer_;
  bool open_ = true;
};

/// Gradients of each record's own loss with respect to all parameters, never formed as a whole:
/// norms, inner products and weighted sums follow from what went into each layer and what comes
/// back.
class PerRecord {
 public:
  Tensor squared_norms() const;                     ///< [n]
  Tensor absolute_sums() const;                     ///< [n]
  Tensor gram() const;                              ///< [n, n]
  void set_gradients(const Tensor& weights) const;  ///< see Layer

 private:
  friend PerRecord per_record(const Tape& tape, const Tensor& losses);
  struct Factors {
    Layer* layer;
    Tensor input, back;
  };
  using Part = Tensor (Layer::*)(const Tensor& input, const Tensor& back) const;
  Tensor added(Part part) const;  ///< over all layers
  std::vector<Factors> layers_;
};

/// Needs the tape of the forward pass that `losses` [n] came from, record i's loss depending on
/// record i alone. One backward pass; refuses a layer that was used twice.
PerRecord per_record(const Tape& tape, const Tensor& losses);

}  // namespace imprint
