#pragma once

#include <functional>

#include "framework/privacy/scene.h"

namespace imprint {

/// One number of every shadow about each of some candidates, and who saw which.
struct ShadowTable {
  int64_t from = 0, to = 0;  ///< the candidates: columns of the tables
  Tensor values;             ///< [shadows, to - from] double
  Tensor in;                 ///< bool [shadows, to - from]: the shadow trained on the candidate

  Tensor out() const { return in.logical_not(); }
};

/// Reads one number per record of a model, [n] double.
using ReadColumn = std::function<Tensor(const Seen&)>;

/// Hands the candidates to `visit` a block at a time, so that what all shadows say about all
/// candidates is never in memory at once. Blocks are smaller by `width`, for those who need that
/// many times the memory of a table.
void visit_shadows(const Scene& scene, const ReadColumn& read,
                   const std::function<void(const ShadowTable&)>& visit, int64_t width = 1);

/// [n] The score of every candidate, a block at a time: from what the shadows say about it and the
/// target's own number [columns].
Tensor scores_by_shadows(const Scene& scene, const ReadColumn& read,
                         const std::function<Tensor(const ShadowTable&, const Tensor& own)>& score);

/// Mean and sum of squared deviations over the rows where `mask` is set, per column.
struct Moments {
  Tensor mean, squares;  ///< [columns]; the mean is 0 where nothing is set
  Tensor count;          ///< [columns] double
};

/// `median`: deviations from the median instead of the mean, which then stands in `mean`.
Moments moments_where(const Tensor& values, const Tensor& mask, bool median = false);

/// log of the mean of exp(values) over the rows where `mask` is set, per column; NaN-free:
/// -infinity where nothing is set.
Tensor log_mean_exp_where(const Tensor& values, const Tensor& mask);

}  // namespace imprint
