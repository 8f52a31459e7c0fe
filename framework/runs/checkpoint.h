#pragma once

#include <chrono>
#include <optional>

#include "framework/runs/plan.h"

namespace imprint {

/// Where a training stands, and what it has found so far.
struct Checkpoint {
  Tensors tensors;  ///< of the trainer
  std::vector<EpochRow> rows;
  std::map<std::string, Log> logs;  ///< of the measures that watch, by address
  std::set<std::string> machines;   ///< kinds of CPU it was trained on
};

/// The checkpoints of one training in the store: entries of their own, the newest of which counts.
class Checkpoints {
 public:
  Checkpoints(const Store& store, const TrainJob& training);

  /// The newest that serves these measures and the snapshots that are still wanted. A damaged one
  /// is set aside and told to `damaged`.
  std::optional<Checkpoint> load(const std::vector<std::string>& watching,
                                 const std::function<void(const std::string&)>& damaged) const;
  /// Whether half a minute has passed since the last.
  bool due() const;
  void save(const Checkpoint& checkpoint);
  /// Once the training is stored.
  void remove() const;

 private:
  /// Addresses, the newest first.
  std::vector<std::string> entries() const;
  Checkpoint read(const std::string& address) const;
  bool serves(const Checkpoint& checkpoint, const std::vector<std::string>& watching) const;

  const Store& store_;
  const TrainJob& training_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  std::chrono::duration<double> interval_;
};

/// Name of a training's newest checkpoint, which says how far it is; empty: it has none.
std::string newest_checkpoint(const Store& store, const std::string& training);

/// Removes what is left by who was killed after storing a training and before cleaning up.
void remove_finished_checkpoints(const Plan& plan, const Store& store);

}  // namespace imprint
