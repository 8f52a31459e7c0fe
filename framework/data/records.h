#pragma once

#include <torch/types.h>

#include <string>
#include <vector>

namespace imprint {

using torch::Tensor;

/// The features of records, kept compact and expanded when they are asked for: numbers as they are,
/// images and small integers as bytes, binary features as bits. Often a selection of the rows of a
/// larger store (a memory-mapped file, shared by all workers of a machine); selecting copies
/// nothing.
class Records {
 public:
  Records() = default;
  /// Values [n, ...] as they are. Implicit: a tensor is records.
  Records(Tensor values);
  /// Binary features, eight to a byte, the lowest bit first: uint8 [n, ceil(features / 8)].
  static Records bits(Tensor packed, int64_t features);

  bool defined() const { return store_.defined(); }
  int64_t size() const;
  /// Of one record: {600} or {3, 32, 32}.
  const std::vector<int64_t>& shape() const { return shape_; }
  /// Of what `rows` gives: bits come as uint8.
  torch::ScalarType type() const { return store_.scalar_type(); }
  int64_t numel() const;

  /// The records at `index` (int64), in that order; shares the store.
  Records at(const Tensor& index) const;
  /// The same records with those at `index` replaced by `values` [m, ...]. Copies the store.
  Records replaced(const Tensor& index, const Tensor& values) const;
  /// The values [m, ...] at `index`, or from `from` to before `to`, or all.
  Tensor rows(const Tensor& index) const;
  Tensor rows(int64_t from, int64_t to) const;
  Tensor all() const { return rows(0, size()); }
  /// All values as a model of float32 takes them.
  Tensor as_numbers() const;

  /// The tensor behind, whatever was selected from it, and 0 or the number of binary features.
  const Tensor& store() const { return store_; }
  int64_t packed_features() const { return features_; }
  /// Positions in the store; undefined: all, in order.
  const Tensor& selection() const { return index_; }

  /// Digest of the values, however they are kept.
  std::string digest() const;

 private:
  Tensor expanded(const Tensor& rows) const;

  Tensor store_, index_;
  int64_t features_ = 0;  ///< above 0: the store holds bits
  std::vector<int64_t> shape_;
};

/// Values as the model takes them: floating point of type `type` on `device`. Bytes of images [n,
/// c, h, w] stand for x / 255, all other values for themselves.
Tensor as_input(const Tensor& x, torch::ScalarType type, const torch::Device& device);

/// Packs values 0 and 1 (uint8 [n, features]) for Records::bits.
Tensor packed_bits(const Tensor& values);

}  // namespace imprint
