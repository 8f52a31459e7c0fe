#include "framework/privacy/gaussian_fit.h"

#include <cmath>
#include <numbers>

namespace imprint {
namespace {

constexpr int64_t enough_shadows = 32;  // on each side, for a variance of its own
constexpr double prior_weight = 4;      // observations that the common variance stands for
constexpr double least_share = 1e-6;    // of the common variance: no record is surer than that

// Fewest shadows on either side of any record. In a rehearsal the shadow that plays the target and
// its block partner are missing, one on each side: decided is as for the target.
int64_t fewest(const Scene& scene) {
  auto in = torch::zeros({scene.size()}, torch::kLong);
  const auto shadows = scene.shadows();
  for (size_t i = 0; i < shadows; ++i) in += scene.shadow(i).member();
  const auto most = static_cast<int64_t>(shadows) - in.max().item<int64_t>();
  return std::min(in.min().item<int64_t>(), most) + (scene.rehearsal() ? 1 : 0);
}

// Squares and what they are worth, over all records.
struct Sum {
  double squares = 0, freedom = 0;

  void add(const Moments& side) {
    squares += side.squares.sum().item<double>();
    freedom += (side.count - 1).clamp_min(0).sum().item<double>();
  }
  // Without two shadows on a side nothing is known; then any number gives the same ranks.
  double variance() const { return freedom > 0 && squares > 0 ? squares / freedom : 1; }
};

// The shadows of one side, several numbers per record.
struct Cloud {
  Tensor mean;     // [columns, numbers]
  Tensor squares;  // [columns, numbers, numbers]: sums of products of deviations
  Tensor count;    // [columns]
};

// values [numbers, shadows, columns].
Cloud cloud(const Tensor& values, const Tensor& mask) {
  const auto count = mask.sum(0).to(torch::kDouble);
  const auto weights = mask.to(torch::kDouble);
  const auto mean = (values * weights).sum(1) / count.clamp_min(1);
  const auto deviations = ((values - mean.unsqueeze(1)) * weights).permute({2, 0, 1});
  return {mean.t(), deviations.bmm(deviations.transpose(1, 2)), count};
}

// [columns] log density of x [columns, numbers] but for a constant, under covariances [columns or
// 1, numbers, numbers].
Tensor joint_log_density(const Tensor& x, const Tensor& mean, const Tensor& covariance) {
  const auto lower = torch::linalg_cholesky(covariance);
  const auto away = (x - mean).unsqueeze(2);
  const auto white = torch::linalg_solve_triangular(lower.expand({x.size(0), x.size(1), x.size(1)}),
                                                    away, /*upper=*/false);
  const auto volume = lower.diagonal(0, -2, -1).log().sum(-1);
  return -white.square().sum({1, 2}) / 2 - volume;
}

}  // namespace

Tensor Normals::log_density(const Tensor& x) const {
  return -standardised(x).square() / 2 - variance.log() / 2 - std::log(2 * std::numbers::pi) / 2;
}

GaussianFit::GaussianFit(Keys keys)
    : variance_(keys.choice("variance", {"auto", "per_record", "fixed", "shrunk"})
                    .doc("each record's own, one for all, or between; auto: each record's own from "
                         "32 shadows on each side, else fixed")),
      median_(keys.choice("centre", {"mean", "median"}).doc("of the shadows' log-odds").get() ==
              "median"),
      in_for_out_(
          keys.choice("out_variance", {"out", "in"})
              .doc("fixed variance of shadows without the record: their own, or that of the "
                   "others (as the public code has it)")
              .get() == "in"),
      ridge_(keys.number("ridge", 1e-3)
                 .at_least(0)
                 .doc("covariance: full: added to its diagonal, in shares of its mean variance")) {}

bool GaussianFit::per_record(const Scene& scene) const {
  if (variance_ == "auto") return fewest(scene) >= enough_shadows;
  return variance_ != "fixed" && fewest(scene) >= 2;
}

void GaussianFit::describe(const Scene& scene, Log& log) const {
  const bool own = per_record(scene);
  log.metric("variance_per_record", own ? 1 : 0);
  if (!own && variance_ != "auto" && variance_ != "fixed") log.metric("variance_fell_back", 1);
}

GaussianFit::Pooled GaussianFit::pooled(const Scene& scene, const ReadColumn& read) const {
  Sum in, out;
  visit_shadows(scene, read, [&](const ShadowTable& table) {
    in.add(moments_where(table.values, table.in, median_));
    out.add(moments_where(table.values, table.out(), median_));
  });
  return {in.variance(), in_for_out_ ? in.variance() : out.variance(), per_record(scene)};
}

Tensor GaussianFit::variance_of(const Moments& side, double common, bool own) const {
  if (!own) return torch::full_like(side.mean, common);
  const auto variance = variance_ == "shrunk"
                            ? (prior_weight * common + side.squares) / (prior_weight + side.count)
                            : side.squares / (side.count - 1).clamp_min(1);
  return variance.clamp_min(least_share * common);
}

InOut GaussianFit::fitted(const ShadowTable& table, const Pooled& pooled) const {
  const auto in = moments_where(table.values, table.in, median_);
  const auto out = moments_where(table.values, table.out(), median_);
  return {{in.mean, variance_of(in, pooled.in, pooled.per_record)},
          {out.mean, variance_of(out, pooled.out, pooled.per_record)}};
}

Tensor GaussianFit::joint_log_ratio(const Scene& scene,
                                    const std::vector<ReadColumn>& reads) const {
  const auto numbers = static_cast<int64_t>(reads.size());
  std::vector<Tensor> own;
  for (const auto& read : reads) own.push_back(read(scene));
  const auto target = torch::stack(own, 1);
  // Calls `visit` with the clouds of each block of candidates.
  const auto each_block = [&](const auto& visit) {
    const auto shadows = static_cast<int64_t>(scene.shadows());
    const auto width = numbers * std::max<int64_t>(numbers / shadows, 1);
    visit_shadows(
        scene, reads.front(),
        [&](const ShadowTable& first) {
          std::vector<Tensor> values{first.values};
          for (size_t number = 1; number < reads.size(); ++number) {
            std::vector<Tensor> rows;
            for (size_t i = 0; i < scene.shadows(); ++i)
              rows.push_back(reads[number](scene.shadow(i)).slice(0, first.from, first.to));
            values.push_back(torch::stack(rows));
          }
          const auto all = torch::stack(values);
          visit(first, cloud(all, first.in), cloud(all, first.out()));
        },
        width);
  };
  auto in_sum = torch::zeros({numbers, numbers}, torch::kDouble), out_sum = in_sum.clone();
  double in_freedom = 0, out_freedom = 0;
  each_block([&](const ShadowTable&, const Cloud& in, const Cloud& out) {
    in_sum += in.squares.sum(0);
    out_sum += out.squares.sum(0);
    in_freedom += (in.count - 1).clamp_min(0).sum().item<double>();
    out_freedom += (out.count - 1).clamp_min(0).sum().item<double>();
  });
  const bool own_variance = per_record(scene);
  const auto covariance = [&](const Cloud& side, const Tensor& sum, double freedom) {
    const auto eye = torch::eye(numbers, torch::kDouble);
    const auto common = (freedom > 0 ? sum / freedom : eye).unsqueeze(0);
    auto used = common;
    if (own_variance && variance_ == "shrunk")
      used = (prior_weight * common + side.squares) / (prior_weight + side.count).view({-1, 1, 1});
    else if (own_variance)
      used = side.squares / (side.count - 1).clamp_min(1).view({-1, 1, 1});
    const auto mean = used.diagonal(0, -2, -1).mean(-1).view({-1, 1, 1});
    const auto floor = common.diagonal(0, -2, -1).mean().clamp_min(1e-12) * least_share;
    return used + (ridge_ * mean + floor) * eye;
  };
  auto scores = torch::empty({scene.size()}, torch::kDouble);
  each_block([&](const ShadowTable& table, const Cloud& in, const Cloud& out) {
    const auto x = target.slice(0, table.from, table.to);
    scores.slice(0, table.from, table.to) =
        joint_log_density(x, in.mean, covariance(in, in_sum, in_freedom)) -
        joint_log_density(x, out.mean, covariance(out, out_sum, out_freedom));
  });
  return scores;
}

}  // namespace imprint
