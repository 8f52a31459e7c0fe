#pragma once

#include <memory>
#include <vector>

#include "framework/training/defense.h"

namespace imprint {

/// The defenses of a cell, applied in order as if they were one.
class Chain {
 public:
  Chain() = default;
  explicit Chain(std::vector<Built<Defense>> links) : links_(std::move(links)) {}

  bool overrides(const std::string& hook) const;

  void data(Split& split, const std::vector<std::vector<Trained>>& first, const Stream& stream);
  void shape(Shape& shape);
  void start(const Step& step);
  Batch batch(Batch batch, const Step& step);
  Tensor logits(Tensor logits, const Batch& batch, const Step& step);
  Tensor loss(Tensor losses, const Tensor& logits, const Batch& batch, const Step& step);
  bool gradient(const Batch& batch, const Losses& losses, const Step& step);
  void epoch(const Step& step);
  bool stop(const Epoch& epoch);
  std::optional<int64_t> release() const;
  void trained(Model& model, const Split& split, const Stream& stream);
  Tensor query(Tensor x) const;
  Tensor output(Tensor log_p, const Tensor& seeds) const;
  void state(State& state);

  const std::vector<Built<Defense>>& links() const { return links_; }

  /// Whether a link takes part in training, rather than only in what is released.
  static bool trains(const Built<Defense>& link);

 private:
  /// Numbers a link among those that train: the others leave training, and so its randomness and
  /// state, as they are.
  uint64_t number(size_t link) const;

  std::vector<Built<Defense>> links_;
};

}  // namespace imprint
