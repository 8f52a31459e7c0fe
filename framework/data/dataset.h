#pragma once

#include <torch/types.h>

#include <string>

#include "framework/registry/registry.h"

namespace imprint {

using torch::Tensor;

/// Records as plain tensors: x [n, ...], y [n] class indices (int64). Images are uint8
/// [n, channels, height, width] and stand for x / 255; other uint8 data (binary features) stand for
/// themselves.
struct Dataset {
  Tensor x, y;
  int64_t classes = 0;

  int64_t size() const { return y.defined() ? y.size(0) : 0; }
  bool empty() const { return size() == 0; }
  /// The records at `index` (int64), in that order.
  Dataset at(const Tensor& index) const;
  /// Digest of the contents.
  std::string digest() const;
};

/// The records as the model takes them: floating point of type `type` on `device`.
Tensor as_input(const Tensor& x, torch::ScalarType type, const torch::Device& device);

/// What one model knows: it trains on `train` (members) and is judged on `test` (non-members).
/// `reference` is the defender's auxiliary data, `population` the attacker's, trained on by nobody,
/// `tune` is held out for choosing hyper-parameters. Pieces a protocol does not have are empty.
struct Split {
  Dataset train, test, reference, population, tune;

  std::string digest() const;
};

/// A source of records: reads files or makes records up. Components in framework/datasets.
class Source {
 public:
  virtual ~Source() = default;
  /// All records, official training part first. Called once per run; the constructor only reads
  /// keys. Throws ConfigError, saying how to get the data, when files are missing or damaged.
  virtual Dataset load() const = 0;
};

using SourceRegistry = Registry<Source>;

/// IMPRINT_DATASET(Type, "name", "summary", "paper or origin");
#define IMPRINT_DATASET(Type, name, summary, origin)                                            \
  static const ::imprint::Registration<::imprint::SourceRegistry, Type> registration_of_##Type( \
      {"dataset", name, summary, origin, __FILE__, {}})

}  // namespace imprint
