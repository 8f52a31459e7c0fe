#pragma once

#include "framework/privacy/scene.h"
#include "framework/training/measure.h"

namespace imprint {

/// What an attack found out about the candidates of its scene.
struct Findings {
  Tensor scores;          ///< [n], higher: more likely a member; infinite is fine, NaN is not
  Tensor decisions = {};  ///< bool [n], or undefined: a threshold is fitted on a shadow
  Log log = {};           ///< further scalars
  Tensor scored = {};     ///< bool [n]: candidates that were attacked at all; undefined: all
};

/// A membership attack: sees what an attacker could see, never who is a member of the target.
/// Components in attacks/.
class Attack {
 public:
  virtual ~Attack() = default;
  /// Its threat model; the scene hands out exactly this.
  virtual Needs needs() const = 0;
  virtual Findings run(const Scene& scene) = 0;
};

using AttackRegistry = Registry<Attack>;

/// IMPRINT_ATTACK(Type, "name", "summary", "paper, equation");
#define IMPRINT_ATTACK(Type, name, summary, paper)                                              \
  static const ::imprint::Registration<::imprint::AttackRegistry, Type> registration_of_##Type( \
      {"attack", name, summary, paper, __FILE__, {}})

/// Runs an attack on the target of a scene. Where it makes no decision of its own, it is run on
/// a shadow playing the target, and the best threshold there (one per class, or one for all;
/// classes the shadow lacks use the one for all) decides. With too few shadows of a pool for that,
/// it calls the upper half members, as it knows that half of them are. `decisions` and `scored` are
/// always set afterwards.
Findings run_attack(Attack& attack, const Scene& scene, bool per_class);

/// The same where there is nothing to practise on: `decisions` are the attack's own, or undefined.
Findings run_without_shadow(Attack& attack, const Scene& scene);

}  // namespace imprint
