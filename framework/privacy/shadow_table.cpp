#include "framework/privacy/shadow_table.h"

#include <limits>

namespace imprint {
namespace {

constexpr int64_t table_numbers = int64_t{1} << 22;  // of one table: 32 MB

}  // namespace

void visit_shadows(const Scene& scene, const ReadColumn& read,
                   const std::function<void(const ShadowTable&)>& visit, int64_t width) {
  const auto shadows = scene.shadows();
  TORCH_CHECK(shadows > 0, "there are no shadows to learn from");
  const auto block = std::max<int64_t>(table_numbers / (static_cast<int64_t>(shadows) * width), 1);
  for (int64_t at = 0; at < scene.size(); at += block) {
    const auto end = std::min(at + block, scene.size());
    std::vector<Tensor> values, in;
    for (size_t i = 0; i < shadows; ++i) {
      const auto shadow = scene.shadow(i);
      values.push_back(read(shadow).slice(0, at, end));
      in.push_back(shadow.member().slice(0, at, end));
    }
    visit({at, end, torch::stack(values), torch::stack(in)});
  }
}

Tensor scores_by_shadows(
    const Scene& scene, const ReadColumn& read,
    const std::function<Tensor(const ShadowTable&, const Tensor& own)>& score) {
  const auto target = read(scene);
  auto scores = torch::empty_like(target);
  visit_shadows(scene, read, [&](const ShadowTable& table) {
    scores.slice(0, table.from, table.to) = score(table, target.slice(0, table.from, table.to));
  });
  return scores;
}

Moments moments_where(const Tensor& values, const Tensor& mask, bool median) {
  const auto count = mask.sum(0).to(torch::kDouble);
  const auto kept = values.masked_fill(mask.logical_not(), 0);
  auto centre = kept.sum(0) / count.clamp_min(1);
  if (median) {
    const auto nan = std::numeric_limits<double>::quiet_NaN();
    centre = values.masked_fill(mask.logical_not(), nan).nanquantile(0.5, 0).nan_to_num(0);
  }
  const auto squares = (values - centre).square().masked_fill(mask.logical_not(), 0).sum(0);
  return {centre, squares, count};
}

Tensor log_mean_exp_where(const Tensor& values, const Tensor& mask) {
  const auto kept =
      values.masked_fill(mask.logical_not(), -std::numeric_limits<double>::infinity());
  return kept.logsumexp(0) - mask.sum(0).to(torch::kDouble).clamp_min(1).log();
}

}  // namespace imprint
