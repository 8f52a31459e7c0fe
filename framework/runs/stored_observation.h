#pragma once

#include "framework/runs/release.h"

namespace imprint {

/// A model as the jobs before left it in the store; read as it is asked for, never all at once.
class StoredObservation final : public Observation {
 public:
  /// All must outlive it.
  StoredObservation(const Plan& plan, const Store& store, const Observed& observed)
      : plan_(plan), store_(store), observed_(observed) {}

  Tensor y(Piece piece) const override;
  Tensor member() const override;
  Tensor natural() const override;
  int64_t classes() const override;
  int64_t block() const override { return observed_.block; }
  Columns columns(Piece piece, const Transform& transform) const override;
  Answers answers(Piece piece, const Transform& transform) const override;
  Records records(Piece piece) const override;
  std::shared_ptr<Service> service() const override;

 private:
  const std::map<std::string, Tensor>& columns_file(Piece piece, const Transform& transform) const;

  const Plan& plan_;
  const Store& store_;
  const Observed& observed_;
  mutable std::map<std::string, std::map<std::string, Tensor>> mapped_;  ///< by address
};

/// Asks a released model about a piece and stores what it answers: in `columns` one number per
/// record each, in `answers` the whole of it where the job keeps it.
void do_signals(const Plan& plan, const SignalsJob& job, const Store& store, const Recipe& recipe);

}  // namespace imprint
