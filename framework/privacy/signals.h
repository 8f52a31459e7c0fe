#pragma once

#include "framework/privacy/transform.h"
#include "framework/training/evaluation.h"

namespace imprint {

/// What a service answers to a list of records: the model's logits, or, where a defense changes its
/// answers, log-probabilities. One of the two is defined.
struct Answers {
  Tensor logits;  ///< [n, classes]
  Tensor log_p;   ///< [n, classes] double

  int64_t classes() const { return (logits.defined() ? logits : log_p).size(1); }
};

/// [n, classes] double: as answered, or the exact log-softmax of the logits.
Tensor log_p_of(const Answers& answers);

/// What most attacks need of the answers, one number per record. Always finite, so that differences
/// are numbers: a probability of 0 or 1, answered by a defense, counts as e^-37 from it, about the
/// resolution of a double.
struct Columns {
  Tensor label;       ///< [n] predicted classes
  Tensor true_log_p;  ///< [n] log p_y, double
  Tensor phi;         ///< [n] log p_y - log(1 - p_y), double, without 1 - p_y ever underflowing
};

Columns columns_of(const Answers& answers, const Tensor& y);

/// A released model as those meet it who ask it: query -> model -> output.
class Service {
 public:
  Service(std::shared_ptr<Model> model, Chain chain, torch::ScalarType type, torch::Device device)
      : model_(std::move(model)), chain_(std::move(chain)), type_(type), device_(device) {}

  /// About raw records, each changed by `transform` before.
  Answers ask(const Records& x, const Transform& transform = {});

  Model& model() { return *model_; }
  const Chain& chain() const { return chain_; }
  torch::ScalarType type() const { return type_; }
  const torch::Device& device() const { return device_; }

 private:
  Answers answered(const Records& x);

  std::shared_ptr<Model> model_;
  Chain chain_;
  torch::ScalarType type_;
  torch::Device device_;
};

/// Log-softmax in double precision that keeps what ordinary ones round to zero: the top class's
/// -log p stays exact far beyond the point where p itself is 1.
Tensor exact_log_softmax(const Tensor& logits);

/// [n] log p_y.
Tensor true_log_p(const Tensor& log_p, const Tensor& y);

/// [n] Shannon entropy.
Tensor entropy_of(const Tensor& log_p);

/// [n] modified entropy (Song and Mittal 2021):
/// -(1 - p_y) log p_y - sum over k != y of p_k log(1 - p_k), without 1 - p ever underflowing.
Tensor modified_entropy_of(const Tensor& log_p, const Tensor& y);

}  // namespace imprint
