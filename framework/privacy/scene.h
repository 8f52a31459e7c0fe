#pragma once

#include <string>
#include <vector>

#include "framework/data/stream.h"
#include "framework/privacy/observation.h"

namespace imprint {

/// What an attacker has: the threat model. Printed beside every number.
struct Needs {
  enum class Signal { label, phi, log_p, logits };
  enum class Shadows { none, one, pool };
  enum class Access { answers, queries, weights };

  /// What a query returns to this attacker: the predicted class, beside it the true class's
  /// probability, all probabilities, or the logits.
  Signal signal = Signal::log_p;
  std::vector<Transform> transforms = {};  ///< asked about beside each record itself
  /// Shadow models whose members the attacker knows. `one`: any, with candidates of its own;
  /// `pool`: as many as there are, which saw the target's own candidates or not (protocol pool).
  Shadows shadows = Shadows::none;
  bool population = false;  ///< answers about records that nobody trained on
  bool records = false;     ///< looks at the records' features
  /// Beyond answers about the candidates: asks about records of its own making, or sees inside.
  Access access = Access::answers;
  bool decides = false;        ///< makes decisions itself; else a shadow gives the threshold
  bool one_threshold = false;  ///< scores mean the same in all classes, so one threshold will do

  /// "black box, probabilities; knows the true labels; no shadow model".
  std::string words() const;
};

/// What an attacker sees of one model and one piece, as far as its Needs declare it. Asking for
/// more is a broken contract and throws. Nothing is kept: hold on to what is used twice.
class Seen {
 public:
  Seen(const Observation& model, Piece piece, const Needs& needs)
      : model_(&model), piece_(piece), needs_(needs) {}

  Tensor y() const { return picked(model_->y(piece_)); }     ///< true labels [n]
  Tensor label(const Transform& transform = {}) const;       ///< predicted classes [n]
  Tensor true_log_p(const Transform& transform = {}) const;  ///< log p_y [n] double
  Tensor phi(const Transform& transform = {}) const;         ///< log p_y / (1 - p_y) [n] double
  Tensor log_p(const Transform& transform = {}) const;       ///< [n, classes] double
  Tensor logits(const Transform& transform = {}) const;      ///< [n, classes]
  Records records() const;                                   ///< features of the n records
  Seen population() const;  ///< the same model's answers about the population
  int64_t classes() const { return model_->classes(); }

 protected:
  Tensor picked(const Tensor& column) const {
    return rows_.defined() ? column.index_select(0, rows_) : column;
  }
  void check(const Transform& transform) const;
  void check(Needs::Signal least) const;

  const Observation* model_;
  Piece piece_;
  Needs needs_;
  Tensor rows_;  ///< which records are shown; undefined: all
};

/// A shadow as the attacker knows it: what it answers and who its members are. Who learns from one
/// shadow sees its natural candidates only; those of a pool are the target's, canaries included.
class Shadow : public Seen {
 public:
  Shadow(const Observation& model, const Needs& needs);
  Tensor member() const { return picked(model_->member()); }  ///< bool [n]
};

/// All that an attack may look at: the target's answers about the candidates, and the shadows.
class Scene : public Seen {
 public:
  /// The observations must outlive the scene; the target's membership is never handed out.
  Scene(const Observation& target, std::vector<const Observation*> shadows, Needs needs,
        Stream stream);

  int64_t size() const { return y().size(0); }
  size_t shadows() const;
  Shadow shadow(size_t i) const;
  /// Answers labels [n] to records that the attacker made, as the model takes them; for attackers
  /// with access to queries.
  Tensor ask_labels(const Tensor& x) const;
  /// The released model itself; for attackers with access to its weights.
  Service& inside() const;
  const Stream& stream() const { return stream_; }
  /// Whether a shadow plays the target here.
  bool rehearsal() const { return rehearsal_; }

 private:
  friend class Rehearsal;
  Service& service() const;

  std::vector<const Observation*> shadows_;
  Stream stream_;
  bool rehearsal_ = false;
  mutable std::shared_ptr<Service> service_;
};

/// The same scene with a shadow as the target: where an attacker practises. An attacker with many
/// shadows has those of other blocks left as shadows; one with a single shadow keeps it. Only the
/// framework, which fits thresholds, may ask who the members are.
class Rehearsal {
 public:
  explicit Rehearsal(const Scene& scene);
  /// Whether there are shadows to practise on.
  bool possible() const;
  Scene scene() const;
  Tensor member() const { return scene_.shadows_.front()->member(); }
  Tensor natural() const { return scene_.shadows_.front()->natural(); }

 private:
  const Scene& scene_;
  std::vector<const Observation*> left_;
};

}  // namespace imprint
