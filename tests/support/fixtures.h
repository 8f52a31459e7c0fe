#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "framework/privacy/attack.h"
#include "framework/runs/experiment.h"
#include "framework/training/trainer.h"

namespace imprint {

// Components are built through the registry from YAML text, as users build them.

/// A component from YAML such as "{name: ccl, alpha: 0.5}"; throws ConfigError.
std::shared_ptr<Attack> attack_of(const std::string& yaml);
std::shared_ptr<Measure> measure_of(const std::string& yaml);
std::shared_ptr<Model> model_of(const std::string& yaml, const Shape& shape);
Dataset dataset_of(const std::string& yaml);
/// A chain from one defense "{...}" or a list of them "[{...}, {...}]".
Chain chain_of(const std::string& yaml);

/// [n, 2] logits (0, x) whose class 0 has the given probabilities.
Tensor confidences(const std::vector<double>& p);
/// [n] labels 0.
Tensor zeros(int64_t n);

/// Scores of an attack on one target that answers with `logits`.
Tensor attack_scores(const std::string& yaml, const Tensor& logits, const Tensor& y);

/// A chain's loss of one record of class 0 of two, whose probability is p.
double loss_of(const std::string& yaml, double p);

/// Metrics of a measure's `trained` for a model that answers with `logits` on members and
/// non-members alike.
std::map<std::string, double> measured(const std::string& yaml, const Tensor& logits,
                                       const Tensor& y);

/// A step of a training that is not going on, for calling hooks directly.
class StillStep {
 public:
  StillStep(std::shared_ptr<Model> model, Split split, double expected_batch = 1);
  Step step() const;

 private:
  std::shared_ptr<Model> model_;
  Split split_;
  Stream stream_{0};
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
  double expected_batch_;
};

/// A small split: `records` members and as many others, normal records round class means.
Split small_split(int64_t records = 60, int64_t features = 6, int64_t classes = 3,
                  bool reference = false);

/// What a training leaves behind.
struct SmallTraining {
  std::shared_ptr<Model> model;
  std::vector<EpochRow> rows;
  std::map<int64_t, std::vector<Tensor>> snapshots;
};

/// Trains a small network on `split`; `train` holds keys of `train` on top of 5 epochs of batch 16.
/// After `interrupt_after` steps (0: never) the training ends, and a new one goes on from its
/// checkpoint, written to a file and read again.
SmallTraining train_small(const std::string& chain, const Split& split = small_split(),
                          const std::string& train = "{}",
                          const std::string& model = "{name: mlp, hidden: [8]}", uint64_t seed = 1,
                          const std::set<int64_t>& snapshots = {}, int64_t interrupt_after = 0);

/// Whether two models have the same bits.
bool same_weights(const Model& a, const Model& b);

/// Interrupted after any step of `steps` and gone on with, training gives the same bits and the
/// same history.
void expect_resumes(const std::string& chain, const std::string& train = "{}",
                    const std::vector<int64_t>& steps = {1, 3, 4, 9, 19, 20});

/// Training with chain `a` gives the same bits as with chain `b`.
void expect_same_training(const std::string& a, const std::string& b);

/// A model of this kind fits a small split: its training loss falls by half.
void expect_model_learns(const std::string& yaml);

/// An attack on an overfitted model: AUC over members and others well above 1/2; and 1/2 within its
/// interval when scores cannot know.
void expect_attack_works(const std::string& yaml);

/// Building the component fails with exactly this message (after its line:column).
void expect_config_error(const std::string& kind, const std::string& yaml,
                         const std::string& message);

}  // namespace imprint
