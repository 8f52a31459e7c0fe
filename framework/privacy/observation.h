#pragma once

#include <memory>
#include <utility>

#include "framework/privacy/signals.h"

namespace imprint {

/// Records that models are asked about: those under attack, or those of the population, which
/// nobody trained on.
enum class Piece { candidates, population };

/// Everything that can be seen of one model, read when it is asked for. In the protocol `pool` all
/// models have the same candidates in the same order; else each has its own.
class Observation {
 public:
  virtual ~Observation() = default;

  virtual Tensor y(Piece piece) const = 0;  ///< [n] true labels
  virtual Tensor member() const = 0;        ///< bool [candidates]
  /// bool [candidates]: not canaries, which an auditor made and which are scored apart.
  virtual Tensor natural() const { return torch::ones_like(member()); }
  virtual int64_t classes() const = 0;
  /// The models of a block share their records out among them; other blocks know nothing of it.
  virtual int64_t block() const = 0;

  virtual Columns columns(Piece piece, const Transform& transform) const = 0;
  virtual Answers answers(Piece piece, const Transform& transform) const = 0;
  /// The records themselves, as the world knows them.
  virtual Records records(Piece piece) const = 0;
  /// The model, for who may ask it about anything.
  virtual std::shared_ptr<Service> service() const = 0;
};

/// An observation of answers that are at hand, to the candidates as they are.
class Answered final : public Observation {
 public:
  Answered(Answers answers, Tensor y, Tensor member, int64_t block = 0)
      : answers_(std::move(answers)), y_(std::move(y)), member_(std::move(member)), block_(block) {}

  /// Answers about the population.
  void add_population(Answers answers, Tensor y) {
    population_ = std::move(answers);
    population_y_ = std::move(y);
  }

  Tensor y(Piece piece) const override;
  Tensor member() const override { return member_; }
  int64_t classes() const override { return answers_.classes(); }
  int64_t block() const override { return block_; }
  Columns columns(Piece piece, const Transform& transform) const override;
  Answers answers(Piece piece, const Transform& transform) const override;
  Records records(Piece piece) const override;
  std::shared_ptr<Service> service() const override;

 private:
  Answers answers_, population_;
  Tensor y_, population_y_, member_;
  int64_t block_;
};

}  // namespace imprint
