#pragma once

#include "framework/training/chain.h"

namespace imprint {

/// Logits [n, classes] (float32 or the model's type, on the CPU) of raw records through the
/// service: as_input -> the chain's `query` -> model in evaluation mode. Always in batches of the
/// same size, since a matrix product's last bits depend on it.
Tensor queried_logits(Model& model, const Chain& chain, const Records& x, torch::ScalarType type,
                      const torch::Device& device);

/// Share of records whose largest logit is that of their label.
double accuracy(const Tensor& logits, const Tensor& y);

/// What the model says about the pieces it is judged by, each computed when first asked for.
class Evaluation {
 public:
  Evaluation(Model& model, const Chain& chain, const Split& split, torch::ScalarType type,
             torch::Device device)
      : model_(model), chain_(chain), split_(split), type_(type), device_(device) {}

  const Tensor& train_logits() { return cached(train_, split_.train); }
  const Tensor& test_logits() { return cached(test_, split_.test); }
  const Split& split() const { return split_; }

 private:
  const Tensor& cached(Tensor& logits, const Dataset& piece);

  Model& model_;
  const Chain& chain_;
  const Split& split_;
  torch::ScalarType type_;
  torch::Device device_;
  Tensor train_, test_;
};

}  // namespace imprint
