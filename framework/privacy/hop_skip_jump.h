#pragma once

#include <torch/types.h>

#include <functional>

#include "framework/data/stream.h"

namespace imprint {

using torch::Tensor;

/// Labels [n] that a model gives to records [n, ...]. Its answer about one record must not depend
/// on the others that it is asked about.
using LabelOracle = std::function<Tensor(const Tensor& x)>;

/// HopSkipJump (Chen et al., S&P 2020), untargeted, in L2: how far a record is from the decision
/// boundary, by asking for labels only. Defaults are those of the Adversarial Robustness Toolbox,
/// which has no budget, though. For each record x that the model classifies right:
///
///     z = the first of `initial_tries` uniformly random points whose label differs
///     move z towards x as long as its label differs, by bisection
///     for t = 0, 1, ... `iterations` - 1:
///       u_i = directions of unit length, min(`first_evaluations` sqrt(t + 1), `most_evaluations`)
///       f_i = 1 where z + reach u_i has another label than x, else -1
///       v = mean of (f_i - mean f) u_i, of unit length; if all f_i agree, of f_i u_i
///       z = z + e v, with e halved from 2 |z - x| / sqrt(t + 1) until the label differs
///       reach = theta |z - x|
///       move z towards x as long as its label differs, by bisection
///
/// The distance is that of the nearest z. (The Toolbox returns the last z before its bisection,
/// which is farther.) All points stay within `low` and `high`.
struct HopSkipJump {
  double low = 0, high = 1;  ///< the values that a record's features may have
  /// Most questions about one record. A stage that the rest cannot pay for is not begun; the last
  /// round makes do with fewer directions.
  int64_t queries = 2500;
  int64_t iterations = 50;
  int64_t initial_tries = 100;
  int64_t first_evaluations = 100, most_evaluations = 10000;
  double first_reach = 0.1;        ///< of the first directions, relative to high - low
  double start_tolerance = 0.001;  ///< of the first bisection, relative to the way to the start
  double theta = 0.01;             ///< later bisections end at theta / sqrt(features) of the way
  /// Numbers in the largest tensor, but for those that one record needs. Affects no result.
  int64_t chunk = 1 << 21;
};

/// What HopSkipJump found out about n records.
struct BoundaryDistances {
  Tensor distance;   ///< [n] double; 0 where the model is wrong, or where no start was found
  Tensor queries;    ///< [n] int64, the questions asked about each record, itself included
  Tensor unreached;  ///< bool [n], classified right, but no start was found
};

/// Distances of records x [n, ...] (float32) with true labels y [n]. All records advance together,
/// so that each question is a large batch. Each record has a stream of its own, by its row.
BoundaryDistances hop_skip_jump(const HopSkipJump& search, const LabelOracle& oracle,
                                const Tensor& x, const Tensor& y, const Stream& stream);

}  // namespace imprint
