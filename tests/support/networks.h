#pragma once

#include <functional>
#include <map>
#include <string>

#include "framework/training/model.h"

namespace imprint {

// What every network must do, whatever it looks like.

/// [n, shape...] normal values of double precision, the same for the same seed.
Tensor random_records(int64_t n, const std::vector<int64_t>& shape, uint64_t seed = 0);

/// A model from YAML in double precision, the same for the same seed.
std::shared_ptr<Model> double_model(const std::string& yaml, const Shape& shape, uint64_t seed = 0);

/// All parameters and buffers by name.
std::map<std::string, Tensor> named_tensors(const torch::nn::Module& model);

/// [n] cross entropies; record i is of class i modulo the number of outputs.
Tensor class_losses(const Tensor& logits);

/// Records in, [n] losses out, each of its own record only.
using RecordLosses = std::function<Tensor(const Tensor&)>;

/// Norms, inner products and weighted sums of per-record gradients from the tape are those of one
/// backward pass per record. The module must be of double precision.
void expect_per_record_gradients(torch::nn::Module& module, const RecordLosses& losses,
                                 const Tensor& x);

/// The same for a model and its class losses.
void expect_per_record_gradients(const std::string& yaml, const Shape& shape);

/// Along a random direction in the space of parameters, autograd's derivative of the mean loss is
/// the central difference.
void expect_gradient_is_the_difference(const std::string& yaml, const Shape& shape);

/// Work done in place is not seen: a second forward gives the same, the records stay, and so it is
/// under a tape, where nothing is done in place.
void expect_no_trace_of_work_in_place(const std::string& yaml, const Shape& shape);

/// A small step of gradient descent lowers the loss of its batch.
void expect_step_lowers_loss(const std::string& yaml, const Shape& shape);

/// Building the model fails with exactly this message, after its place in the text if it has one.
void expect_model_error(const std::string& yaml, const Shape& shape, const std::string& message);

/// Mean 0 and deviation `deviation`, each within what its number of values allows.
void expect_normal(const Tensor& values, double deviation);

}  // namespace imprint
