#pragma once

#include "framework/config/keys.h"
#include "framework/privacy/shadow_table.h"
#include "framework/training/measure.h"

namespace imprint {

/// A normal distribution per record.
struct Normals {
  Tensor mean, variance;  ///< [columns]

  Tensor standardised(const Tensor& x) const { return (x - mean) / variance.sqrt(); }
  Tensor log_density(const Tensor& x) const;
};

/// Of shadows that saw the record, and of those that did not.
struct InOut {
  Normals in, out;
};

/// Fits normal distributions to what shadows with and without a record say about it. Variances are
/// of each record (`per_record`), one for all after centring each record (`fixed`), or between the
/// two (`shrunk`: that of the record pulled towards the common one, which counts as four
/// observations); `auto` is `per_record` from 32 shadows on each side, else `fixed`.
///
/// Keys: variance, centre, out_variance, ridge.
class GaussianFit {
 public:
  explicit GaussianFit(Keys keys);

  /// The common variances of one number.
  struct Pooled {
    double in = 1, out = 1;
    bool per_record = false;  ///< `auto` decided so
  };
  Pooled pooled(const Scene& scene, const ReadColumn& read) const;
  InOut fitted(const ShadowTable& table, const Pooled& pooled) const;

  /// Says whose variances were used, and whether they had to be others than those asked for.
  void describe(const Scene& scene, Log& log) const;
  /// Whether several numbers per record can be one normal: of means, each side with its variance.
  bool plain() const { return !median_ && !in_for_out_; }

  /// [n] log N(x; in) - log N(x; out) of several numbers per record as one multivariate normal,
  /// whose covariance has `ridge` times its mean variance added to its diagonal.
  Tensor joint_log_ratio(const Scene& scene, const std::vector<ReadColumn>& reads) const;

 private:
  /// Whether variances are each record's own.
  bool per_record(const Scene& scene) const;
  Tensor variance_of(const Moments& side, double common, bool own) const;

  std::string variance_;
  bool median_, in_for_out_;
  double ridge_;
};

}  // namespace imprint
