#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "framework/data/origin.h"
#include "framework/data/records.h"
#include "framework/registry/registry.h"

namespace imprint {

/// Records with their labels: y [n] class indices (int64). Images are bytes [n, channels, height,
/// width] and stand for x / 255; other bytes (binary features) stand for themselves.
struct Dataset {
  Records x;
  Tensor y;
  int64_t classes = 0;

  int64_t size() const { return y.defined() ? y.size(0) : 0; }
  bool empty() const { return size() == 0; }
  /// The records at `index` (int64), in that order; shares their features.
  Dataset at(const Tensor& index) const;
  /// Digest of the contents.
  std::string digest() const;
};

/// What one model knows: it trains on `train` (members) and is judged on `test` (non-members).
/// `reference` is the defender's auxiliary data, `population` the attacker's, trained on by nobody,
/// `tune` is held out for choosing hyper-parameters. Pieces a protocol does not have are empty.
struct Split {
  Dataset train, test, reference, population, tune;

  std::string digest() const;
};

/// What is known of a data set without reading it.
struct Facts {
  std::vector<double> mean, deviation;   ///< of each channel, for `normalise: standard`; or empty
  std::vector<std::string> class_names;  ///< or empty
  /// Named ways to join classes, for `relabel`: the classes of each new label.
  std::map<std::string, std::vector<std::vector<int64_t>>> groups;
};

/// A source of records: reads files or makes records up. Components in framework/datasets. The
/// constructor only reads keys.
class Source {
 public:
  virtual ~Source() = default;
  /// The files that `load` reads; empty: records are made up. Throws ConfigError saying where it
  /// looked, when they are not there.
  virtual std::vector<std::filesystem::path> files() const { return {}; }
  /// All records, official training part first. Throws ConfigError naming the file and what is
  /// wrong with it.
  virtual Dataset load() const = 0;
  virtual Facts facts() const { return {}; }
  virtual Origin origin() const { return {}; }
};

using SourceRegistry = Registry<Source>;

/// IMPRINT_DATASET(Type, "name", "summary", "paper or origin");
#define IMPRINT_DATASET(Type, name, summary, origin)                                            \
  static const ::imprint::Registration<::imprint::SourceRegistry, Type> registration_of_##Type( \
      {"dataset", name, summary, origin, __FILE__, {}})

}  // namespace imprint
