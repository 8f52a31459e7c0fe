#pragma once

#include "framework/runs/dealer.h"
#include "framework/runs/plan.h"

namespace imprint {

/// Puts trainings into a plan: targets, shadows, and the trainings that a defense does first. Equal
/// ones are one job.
class TrainingJobs {
 public:
  /// Both must outlive this.
  TrainingJobs(Plan& plan, Problems& problems) : plan_(plan), problems_(problems) {}

  /// What a query of model number `index` is answered by, under the defenses `specs`.
  Release release_of(const Cell& cell, const std::vector<Value>& specs,
                     const std::shared_ptr<const Deal>& deal, int64_t index);

 private:
  /// Address of the training; `members`: of some of its members only.
  std::string add_training(const Cell& cell, const std::vector<Value>& specs,
                           const std::shared_ptr<const Deal>& deal, int64_t index,
                           const Tensor& members);
  void try_weights(const TrainJob& training, const Mark& mark);

  Plan& plan_;
  Problems& problems_;
};

}  // namespace imprint
