#pragma once

#include "framework/training/evaluation.h"

namespace imprint {

/// What a service answers to a list of records: logits as the model gives them, or, where a defense
/// changes its answers, log-probabilities only.
struct Answers {
  Tensor logits;  ///< [n, classes], undefined where a defense changes the output
  Tensor log_p;   ///< [n, classes] double
};

/// Queries the released model about raw records: query -> model -> output.
Answers ask(Model& model, const Chain& chain, const Records& x, torch::ScalarType type,
            const torch::Device& device);

/// Answers read back from stored logits or stored log-probabilities.
Answers answers_from(const Tensor& logits, const Tensor& log_p);

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
