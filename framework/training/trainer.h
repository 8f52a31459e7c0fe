#pragma once

#include <functional>
#include <set>

#include "framework/data/augment.h"
#include "framework/training/measure.h"
#include "framework/training/schedule.h"

namespace imprint {

/// One recorded epoch. Deterministic: times are the progress display's business.
struct EpochRow {
  int64_t epoch = 0;  ///< one-based
  double loss = 0, lr = 0;
  std::optional<double> train_accuracy, test_accuracy;
};

/// A measure attached to a training, and where it writes.
struct Attached {
  Measure* measure;
  Log* log;
};

/// Everything one training needs. All references must outlive `train`.
struct TrainingPlan {
  const Split& split;  ///< as the world knows it, before the defenses' `data`
  const Schedule& schedule;
  Chain& chain;
  std::vector<std::vector<Trained>> first;  ///< per link of the chain
  std::function<std::shared_ptr<Model>(const Shape&)> build;
  Augmentation augment;
  /// Puts finished weights into the model: then it is judged and released, but not trained.
  std::function<void(Model&)> load;
  Stream stream;
  torch::Device device;
  std::vector<Attached> measures;
  std::set<int64_t> snapshots;  ///< epochs whose weights are wanted
  std::function<void(int64_t epoch, Model&)> on_snapshot;
  std::function<void(const EpochRow&)> on_epoch;  ///< every recorded epoch
  /// Asked after every step; true: `on_checkpoint` gets what the training has to be told to go on
  /// from there to the same bits. Either may throw to end the training.
  std::function<bool()> checkpoint_due = {};
  std::function<void(const Tensors&)> on_checkpoint = {};
  Tensors checkpoint = {};  ///< to go on from; empty: the beginning
};

/// Trains as the loop in the comment of Defense says, and returns the model of the last epoch.
std::shared_ptr<Model> train(TrainingPlan& plan);

/// The shape of the model for a split and a loss, after the chain's `shape`.
Shape model_shape(const Split& split, const BaseLoss& loss, Chain& chain);

}  // namespace imprint
