#include <cmath>

#include "framework/privacy/attack.h"
#include "framework/privacy/gaussian_fit.h"

namespace imprint::lira {
namespace {

/// What a query's augmentation does, in the order in which they are added.
std::vector<Transform> first_augmentations(int64_t count) {
  std::vector<Transform> all{{.flip = true}};
  for (int64_t far = 1; static_cast<int64_t>(all.size()) < count; ++far)
    for (const auto& [right, down] : {std::pair{far, int64_t{0}}, {-far, 0}, {0, far}, {0, -far}})
      for (const bool flip : {false, true})
        all.push_back({.right = right, .down = down, .flip = flip});
  all.resize(static_cast<size_t>(count));
  return all;
}

/// The likelihood-ratio attack: the target's log-odds phi of the true class, against normal
/// distributions of phi over shadows that saw the record (in) and that did not (out).
///
/// Online: log N(phi; in) - log N(phi; out). Offline: log of the normal tail Phi((phi - mu_out) /
/// s_out), from shadows that were trained before the record was known. Several queries (the record
/// mirrored and moved) add up, or, with `covariance: full`, are one multivariate normal. The keys
/// centre, density and out_variance set to median, two_sided and in give the public reference code.
///
/// Keys: mode (online | offline), variance (auto | per_record | fixed | shrunk), augmentations (0),
/// covariance (diagonal | full), ridge (1e-3), centre (mean | median), density (one_sided |
/// two_sided), out_variance (out | in).
class Lira final : public Attack {
 public:
  explicit Lira(Keys keys)
      : online_(keys.choice("mode", {"online", "offline"})
                    .doc("online: also shadows that saw the record; offline: only the others")
                    .get() == "online"),
        fit_(keys),
        augmentations_(first_augmentations(
            keys.integer("augmentations", 0)
                .within(0, 64)
                .doc("images: further queries, each mirrored or moved in another way"))),
        full_(keys.choice("covariance", {"diagonal", "full"})
                  .doc("of several queries: independent, or one multivariate normal")
                  .get() == "full"),
        two_sided_(keys.choice("density", {"one_sided", "two_sided"})
                       .doc("offline: the tail, or minus the density (as the public code does)")
                       .get() == "two_sided") {
    if (full_ && !online_)
      keys.problem("covariance",
                   "covariance: full needs mode: online, since a tail has no side in "
                   "several dimensions");
    if (full_ && !fit_.plain())
      keys.problem("covariance",
                   "covariance: full fits means and each side's own covariance; centre and "
                   "out_variance are for covariance: diagonal");
  }

  Needs needs() const override {
    return {.signal = Needs::Signal::phi,
            .transforms = augmentations_,
            .shadows = Needs::Shadows::pool,
            .one_threshold = true};
  }

  Findings run(const Scene& scene) override {
    auto queries = augmentations_;
    queries.insert(queries.begin(), Transform{});
    Findings found{full_ ? jointly(scene, queries) : one_by_one(scene, queries)};
    fit_.describe(scene, found.log);
    return found;
  }

 private:
  Tensor one_by_one(const Scene& scene, const std::vector<Transform>& queries) const {
    auto scores = torch::zeros({scene.size()}, torch::kDouble);
    for (const auto& query : queries) {
      const auto read = [&](const Seen& seen) { return seen.phi(query); };
      const auto pooled = fit_.pooled(scene, read);
      scores += scores_by_shadows(scene, read, [&](const ShadowTable& table, const Tensor& own) {
        return score(own, fit_.fitted(table, pooled));
      });
    }
    return scores;
  }

  Tensor score(const Tensor& phi, const InOut& fitted) const {
    if (online_) return fitted.in.log_density(phi) - fitted.out.log_density(phi);
    return two_sided_ ? -fitted.out.log_density(phi)
                      : torch::special_log_ndtr(fitted.out.standardised(phi));
  }

  Tensor jointly(const Scene& scene, const std::vector<Transform>& queries) const {
    std::vector<ReadColumn> reads;
    for (const auto& query : queries)
      reads.emplace_back([query](const Seen& seen) { return seen.phi(query); });
    return fit_.joint_log_ratio(scene, reads);
  }

  bool online_;
  GaussianFit fit_;
  std::vector<Transform> augmentations_;
  bool full_, two_sided_;
};

IMPRINT_ATTACK(Lira, "lira",
               "likelihood ratio of log-odds under shadows with and without the record",
               "Carlini et al., S&P 2022, Algorithm 1 and Eq. 4");

}  // namespace
}  // namespace imprint::lira
