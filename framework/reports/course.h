#pragma once

#include <string>
#include <vector>

#include "framework/reports/curve_points.h"
#include "framework/reports/results.h"
#include "framework/runs/plan.h"

namespace imprint {

/// How the training of a cell's target went: `training_loss` (after the defenses), `train_accuracy`
/// and `test_accuracy` of the model's own answers, and what measures saw (`component.metric`), each
/// at the epochs at which it was taken.
std::vector<EpochResult> course_of(const CellJobs& jobs, const Store& store);

/// How soon a training converges: the first evaluated epoch whose test accuracy is at least 95 % of
/// the last one's, as a share of the epochs there were. Nothing where fewer than two were
/// evaluated.
std::optional<double> share_to_converge(const std::vector<EpochResult>& course);

/// epochs.csv: cell, seed, target, epoch, metric, value.
std::string epochs_csv(const Results& results);

/// The points of a figure with `x: epoch`: for every setting, epoch by epoch, the mean of `y` over
/// its repetitions.
std::vector<CurvePoint> epoch_points(const Results& results, const Figure& figure);

/// Whether epochs were evaluated ever more seldom, so that they are seen best on a logarithmic
/// axis.
bool thins_out(const std::vector<CurvePoint>& points);

}  // namespace imprint
