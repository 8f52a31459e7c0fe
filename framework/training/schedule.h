#pragma once

#include <memory>

#include "framework/training/losses.h"

namespace imprint {

/// Which epochs of a training something happens at (one-based; the last always).
struct Due {
  int64_t every = 1;
  int64_t per_decade = 0;  ///< above 0: that many epochs per power of ten instead

  bool operator()(int64_t epoch, int64_t epochs) const;
};

/// The keys of `train`.
struct Schedule {
  explicit Schedule(Keys keys);

  int64_t epochs;
  int64_t batch;  ///< 0: all members at once
  std::string optimizer;
  double lr, momentum, weight_decay;
  bool nesterov;
  std::vector<int64_t> milestones;
  double decay;
  std::string anneal;
  std::string sampling;
  BaseLoss loss;
  torch::ScalarType type;
  bool bfloat16;  ///< of products and convolutions while training; weights are of `type`
  Due record, evaluate;

  /// Learning rate of a zero-based epoch.
  double lr_at(int64_t epoch) const;
  std::unique_ptr<torch::optim::Optimizer> make_optimizer(std::vector<Tensor> parameters) const;
};

/// The record numbers of each step of one epoch.
std::vector<Tensor> draw_batches(const std::string& sampling, int64_t members, int64_t batch,
                                 const Stream& stream);

}  // namespace imprint
