#include "framework/privacy/attack.h"

#include <algorithm>

#include "framework/privacy/scoring.h"

namespace imprint {
namespace {

template <class T>
std::span<const T> values_of(const Tensor& tensor) {
  return {tensor.const_data_ptr<T>(), static_cast<size_t>(tensor.numel())};
}

// [classes] the thresholds that would have been best on the model practised on.
Tensor thresholds(const Findings& practised, const Tensor& member, const Tensor& y, int64_t classes,
                  bool per_class) {
  const auto scores = practised.scores.masked_select(practised.scored);
  const auto flags = member.masked_select(practised.scored).to(torch::kUInt8);
  if (!per_class)
    return torch::full({classes},
                       best_threshold(values_of<double>(scores), values_of<uint8_t>(flags)),
                       torch::kDouble);
  const auto labels = y.masked_select(practised.scored);
  return torch::tensor(class_thresholds(values_of<double>(scores), values_of<uint8_t>(flags),
                                        values_of<int64_t>(labels), classes),
                       torch::kDouble);
}

Findings checked(Findings findings, const Scene& scene) {
  TORCH_CHECK(findings.scores.dim() == 1 && findings.scores.size(0) == scene.size(),
              "an attack must give one score per candidate");
  if (!findings.scored.defined()) findings.scored = torch::ones({scene.size()}, torch::kBool);
  findings.scores =
      findings.scores.to(torch::kDouble).masked_fill(findings.scored.logical_not(), 0).contiguous();
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

Findings run_without_shadow(Attack& attack, const Scene& scene) {
  auto findings = checked(attack.run(scene), scene);
  if (findings.decisions.defined()) findings.decisions = findings.decisions & findings.scored;
  return findings;
}

Findings run_attack(Attack& attack, const Scene& scene, bool per_class) {
  auto findings = run_without_shadow(attack, scene);
  if (findings.decisions.defined()) return findings;
  const Rehearsal rehearsal(scene);
  if (rehearsal.possible()) {
    const auto practice = rehearsal.scene();
    auto practised = checked(attack.run(practice), practice);
    practised.scored = practised.scored & rehearsal.natural();
    const auto limits =
        thresholds(practised, rehearsal.member(), practice.y(), scene.classes(), per_class);
    findings.decisions = findings.scores >= limits.index_select(0, scene.y());
  } else {
    TORCH_CHECK(attack.needs().shadows == Needs::Shadows::pool,
                "an attack without decisions of its own needs a shadow to fit its threshold on");
    findings.decisions = findings.scores > findings.scores.masked_select(findings.scored).median();
  }
  findings.decisions = findings.decisions & findings.scored;
  return findings;
}

}  // namespace imprint
