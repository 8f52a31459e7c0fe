#include "framework/privacy/attack.h"

#include <algorithm>

#include "framework/privacy/scoring.h"

namespace imprint {
namespace {

double fitted(const Tensor& scores, const Tensor& member) {
  const auto s = scores.contiguous();
  const auto m = member.to(torch::kUInt8).contiguous();
  return best_threshold({s.const_data_ptr<double>(), static_cast<size_t>(s.numel())},
                        {m.const_data_ptr<uint8_t>(), static_cast<size_t>(m.numel())});
}

// [classes] thresholds; a class without members or without non-members uses the one for all.
Tensor thresholds(const Tensor& scores, const Tensor& member, const Tensor& y, int64_t classes,
                  bool per_class) {
  auto all = torch::full({classes}, fitted(scores, member), torch::kDouble);
  for (int64_t k = 0; per_class && k < classes; ++k) {
    const auto rows = y.eq(k).nonzero().squeeze(1);
    const auto m = member.index_select(0, rows);
    if (rows.numel() > 0 && m.any().item<bool>() && !m.all().item<bool>())
      all[k] = fitted(scores.index_select(0, rows), m);
  }
  return all;
}

Findings checked(Findings findings, const Scene& scene) {
  TORCH_CHECK(findings.scores.dim() == 1 && findings.scores.size(0) == scene.size(),
              "an attack must give one score per candidate");
  findings.scores = findings.scores.to(torch::kDouble);
  TORCH_CHECK(!findings.scores.isnan().any().item<bool>(),
              "an attack gave a score that is not a number; has the training diverged?");
  return findings;
}

}  // namespace

template <>
AttackRegistry& AttackRegistry::instance() {
  static AttackRegistry registry;
  return registry;
}

Findings run_attack(Attack& attack, const Scene& scene, bool per_class) {
  auto findings = checked(attack.run(scene), scene);
  const Rehearsal rehearsal(scene);
  if (findings.decisions.defined()) return findings;
  TORCH_CHECK(rehearsal.possible(),
              "an attack without decisions of its own needs a shadow to fit its threshold on");
  const auto practice = rehearsal.scene();
  const auto practised = checked(attack.run(practice), practice);
  const auto limits =
      thresholds(practised.scores, rehearsal.member(), practice.y(), scene.classes(), per_class);
  findings.decisions = findings.scores >= limits.index_select(0, scene.y());
  return findings;
}

}  // namespace imprint
