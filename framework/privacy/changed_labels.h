#pragma once

#include "framework/privacy/attack.h"
#include "framework/privacy/membership_net.h"

namespace imprint {

/// Attacks that ask only for labels, of each image and of changed versions of it: a model is right
/// about more of a member's versions. Which of them it is right about is the feature, learned from
/// one shadow by a small network or by the best possible rule, a table of the patterns.
///
/// Keys: rule (network | table), and those of MembershipNet (5 epochs).
class ChangedLabels : public Attack {
 public:
  ChangedLabels(Keys keys, std::vector<Transform> versions);

  Needs needs() const override;
  Findings run(const Scene& scene) override;

 private:
  Tensor features(const Seen& seen) const;  ///< [n, 1 + versions] right (1) or wrong (0)

  bool table_;
  MembershipNet net_;
  std::vector<Transform> versions_;
};

}  // namespace imprint
