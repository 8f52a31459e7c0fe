#pragma once

#include <string>
#include <vector>

#include "framework/privacy/signals.h"

namespace imprint {

/// What an attacker has: the threat model. Printed beside every number.
struct Needs {
  enum class Signal { label, log_p, logits };

  Signal signal = Signal::log_p;  ///< what a query returns to this attacker
  bool shadows = false;           ///< shadow models whose members the attacker knows
  bool decides = false;           ///< makes decisions itself; else a shadow gives the threshold

  /// "black box, probabilities; knows the true labels; no shadow model".
  std::string words() const;
};

/// One model's answers about candidates whose labels are known.
struct Observation {
  Answers answers;
  Tensor y;       ///< [n]
  Tensor member;  ///< bool [n]; undefined for the target
};

/// A shadow as the attacker knows it: its answers and who its members are.
class Shadow {
 public:
  Shadow(const Observation& observation, const Needs& needs) : seen_(observation), needs_(needs) {}
  const Tensor& y() const { return seen_.y; }
  const Tensor& member() const { return seen_.member; }
  Tensor label() const;
  Tensor log_p() const;
  Tensor logits() const;

 private:
  const Observation& seen_;
  Needs needs_;
};

/// All that an attack may look at: the target's answers about the candidates, and the shadows, as
/// far as its Needs declare them. Asking for more is a broken contract and throws.
class Scene {
 public:
  /// The observations must outlive the scene; the target's membership is never handed out.
  Scene(const Observation& target, std::vector<const Observation*> shadows, Needs needs,
        Stream stream);

  int64_t size() const { return target_->y.size(0); }
  int64_t classes() const { return target_->answers.log_p.size(1); }
  const Tensor& y() const { return target_->y; }  ///< true labels of the candidates [n]
  Tensor label() const;                           ///< predicted classes [n]
  Tensor log_p() const;                           ///< [n, classes] double
  Tensor logits() const;                          ///< [n, classes]
  size_t shadows() const { return needs_.shadows ? shadows_.size() : 0; }
  Shadow shadow(size_t i) const;
  const Stream& stream() const { return stream_; }

 private:
  friend class Rehearsal;
  const Observation* target_;
  std::vector<const Observation*> shadows_;
  Needs needs_;
  Stream stream_;
};

/// The same scene with shadow 0 as the target and the others as its shadows: where an attacker
/// practises. Only the framework, which fits thresholds, may ask who the members are.
class Rehearsal {
 public:
  explicit Rehearsal(const Scene& scene) : scene_(scene) {}
  bool possible() const { return !scene_.shadows_.empty(); }
  Scene scene() const;
  const Tensor& member() const { return scene_.shadows_.front()->member; }

 private:
  const Scene& scene_;
};

}  // namespace imprint
