#pragma once

#include <torch/optim/optimizer.h>

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "framework/data/dataset.h"
#include "framework/data/stream.h"
#include "framework/training/model.h"
#include "framework/training/state.h"

namespace imprint {

/// Records of one step.
struct Batch {
  Tensor index;    ///< [n] positions among the members
  Tensor x;        ///< [n, ...] as the model takes them
  Tensor y;        ///< [n] hard labels
  Tensor targets;  ///< [n, classes] probabilities, or undefined: the hard labels

  /// `targets`, or the one-hot rows of y.
  Tensor soft_targets(int64_t classes) const;
};

/// Where the training stands. `split` is what the model trains on, after every defense's `data`.
struct Step {
  int64_t epoch, epochs, step;  ///< zero-based
  Model& model;
  torch::optim::Optimizer& optimizer;
  const Split& split;
  const Stream& stream;  ///< of the defenses, for this training
  torch::ScalarType type;
  torch::Device device;
  double expected_batch;  ///< records per step, on average
};

/// An epoch that has just ended.
struct Epoch {
  int64_t epoch, epochs;
  double loss;  ///< mean training loss over the epoch
};

/// What a gradient defense needs of a step: each record's loss [n] and the tape it came from.
struct Losses {
  Tensor each;
  const Tape& tape;
};

/// A training that has to be done before this one. It has the same data, model and schedule.
struct Training {
  std::vector<Value> defenses;  ///< a chain as in YAML; empty: undefended
  Tensor members;               ///< positions among the members to train on; undefined: all
};

/// A finished model and how it answers.
struct Trained {
  std::shared_ptr<Model> model;
  /// Logits [n, classes] of raw records, in the order of `x`, as the model itself gives them.
  Tensor logits(const Records& x) const;

  torch::ScalarType type = torch::kFloat32;
  torch::Device device = torch::kCPU;
  Dataset members;  ///< of the training that asked for it, before any defense's `data`
};

/// What a defense demands of the experiment around it.
struct Demands {
  bool reference = false;                    ///< reference records (protocol five_way)
  std::optional<std::string> sampling = {};  ///< a value of train.sampling
  std::optional<std::string> loss = {};      ///< a value of train.loss
  /// It mixes records: then no other defense can use the loss or the gradient of one.
  bool mixes = false;
};

/// A defense: one hook per stage of the loop, each default changing nothing. Chains apply hooks in
/// the order of the file.
///
///     first -> data -> shape -> build model -> start
///     for epoch: for index drawn by `sampling`:
///         batch -> { model -> logits -> base loss -> loss } -> gradient or backward
///         -> optimizer step
///         epoch; measures if due; checkpoint if due; stop?
///     release -> trained -> every query: query -> model -> output
///
/// Which hooks a defense overrides is found out when it registers: one that only takes part after
/// training (`release`, `trained`, `query`, `output`) shares the undefended training.
class Defense {
 public:
  virtual ~Defense() = default;

  virtual Demands demands() const { return {}; }
  /// Trainings done before, as jobs that are shared: a teacher, sub-models.
  virtual std::vector<Training> first(int64_t /*members*/, const Stream&) const { return {}; }
  /// Changes what is trained on. Pieces are shared: replace tensors, never write into them.
  virtual void data(Split&, const std::vector<Trained>& /*first*/, const Stream&) {}
  virtual void shape(Shape&) {}
  /// Before the first step, and before `state` is loaded when a training goes on: makes whatever
  /// the defense trains itself.
  virtual void start(const Step&) {}
  virtual Batch batch(Batch batch, const Step&) { return batch; }
  /// What the losses see of the model's logits [n, outputs]; queries see them as they are.
  virtual Tensor logits(Tensor logits, const Batch&, const Step&) { return logits; }
  /// Each record's loss [n], or a scalar, which ends the chain.
  virtual Tensor loss(Tensor losses, const Tensor& /*logits*/, const Batch&, const Step&) {
    return losses;
  }
  /// True: it has set the gradients of all parameters itself.
  virtual bool gradient(const Batch&, const Losses&, const Step&) { return false; }
  /// After the last batch of an epoch, before the schedule.
  virtual void epoch(const Step&) {}
  virtual bool stop(const Epoch&) { return false; }
  /// Which epoch's weights are released (one-based); nothing: the last.
  virtual std::optional<int64_t> release() const { return std::nullopt; }
  virtual void trained(Model&, const Split&, const Stream&) {}
  /// What the service does to an input [n, ...] in the model's type.
  virtual Tensor query(Tensor x) const { return x; }
  /// What a query returns, from log-probabilities [n, classes] in double precision. `seeds` [n] are
  /// functions of each query's contents and the only randomness allowed, so that asking again
  /// gives the same answer.
  virtual Tensor output(Tensor log_p, const Tensor& /*seeds*/) const { return log_p; }
  /// Everything that training changes in the defense itself. Checkpoints are made between steps.
  virtual void state(State&) {}
};

using DefenseRegistry = Registry<Defense>;

/// Hooks that can change the training; the others act on the finished model.
const std::vector<std::string>& training_hooks();

/// The hooks that `Type` overrides: the type of &Type::hook names the class that declares it.
template <class Type>
std::vector<std::string> defense_hooks() {
  std::vector<std::string> hooks;
#define IMPRINT_HOOK(hook) \
  if (!std::is_same_v<decltype(&Type::hook), decltype(&Defense::hook)>) hooks.push_back(#hook)
  IMPRINT_HOOK(first);
  IMPRINT_HOOK(data);
  IMPRINT_HOOK(shape);
  IMPRINT_HOOK(start);
  IMPRINT_HOOK(batch);
  IMPRINT_HOOK(logits);
  IMPRINT_HOOK(loss);
  IMPRINT_HOOK(gradient);
  IMPRINT_HOOK(epoch);
  IMPRINT_HOOK(stop);
  IMPRINT_HOOK(state);
  IMPRINT_HOOK(release);
  IMPRINT_HOOK(trained);
  IMPRINT_HOOK(query);
  IMPRINT_HOOK(output);
#undef IMPRINT_HOOK
  return hooks;
}

/// IMPRINT_DEFENSE(Type, "name", "summary", "paper, equation");
#define IMPRINT_DEFENSE(Type, name, summary, paper)                                              \
  static const ::imprint::Registration<::imprint::DefenseRegistry, Type> registration_of_##Type( \
      {"defense", name, summary, paper, __FILE__, ::imprint::defense_hooks<Type>()})

}  // namespace imprint
