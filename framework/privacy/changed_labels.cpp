#include "framework/privacy/changed_labels.h"

#include "framework/privacy/pattern_table.h"

namespace imprint {
namespace {

constexpr size_t most_versions = 20;  // a table of all patterns has 2^(1 + versions) rows

// [n] the bits of each row as one number.
Tensor as_pattern(const Tensor& bits) {
  auto pattern = torch::zeros({bits.size(0)}, torch::kLong);
  for (int64_t i = 0; i < bits.size(1); ++i) pattern = pattern * 2 + bits.select(1, i);
  return pattern;
}

}  // namespace

ChangedLabels::ChangedLabels(Keys keys, std::vector<Transform> versions)
    : table_(keys.choice("rule", {"network", "table"})
                 .doc("how patterns of right and wrong labels are judged: by a small network as in "
                      "the paper, or by how often the shadow's members show each of them")
                 .get() == "table"),
      net_(keys, 5),
      versions_(std::move(versions)) {
  if (table_ && versions_.size() > most_versions)
    keys.problem("rule", fmt::format("a table of {} versions is too large; use rule: network",
                                     versions_.size()));
}

Needs ChangedLabels::needs() const {
  return {.signal = Needs::Signal::label,
          .transforms = versions_,
          .shadows = Needs::Shadows::one,
          .decides = true};
}

Tensor ChangedLabels::features(const Seen& seen) const {
  const auto y = seen.y();
  std::vector<Tensor> right{seen.label().eq(y)};
  for (const auto& version : versions_) right.push_back(seen.label(version).eq(y));
  return torch::stack(right, 1);
}

Findings ChangedLabels::run(const Scene& scene) {
  const auto shadow = scene.shadow(0);
  const auto known = features(shadow), own = features(scene);
  if (table_) {
    const auto kinds = int64_t{1} << known.size(1);
    const auto odds =
        PatternTable(as_pattern(known), shadow.member(), kinds).log_odds(as_pattern(own));
    return {odds, odds > 0};
  }
  net_.learn(known, shadow.member(), scene.stream());
  const auto odds = net_.log_odds(own);
  return {odds, odds > 0};
}

}  // namespace imprint
