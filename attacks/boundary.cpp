#include <fmt/format.h>

#include "framework/privacy/attack.h"
#include "framework/privacy/hop_skip_jump.h"

namespace imprint::boundary {
namespace {

/// Scores a record by its L2 distance to the decision boundary, which training pushes away from
/// members; 0 where the model is wrong. Needs labels only (Choquette-Choo et al. 2021; Li and Zhang
/// 2021); the distance comes from HopSkipJump (Chen et al. 2020), whose steps
/// framework/privacy/hop_skip_jump.h lists with the meaning of the keys. Points stay between the
/// smallest and the largest value of the records under attack.
///
/// As in the reference code, a record counts as wrong if no random point has another label: metric
/// "unreached" is the share of such records. Metric "queries" is the mean number per record.
///
/// Keys: records (1000), queries (2500), iterations (50), first_evaluations (100),
/// most_evaluations (10000), initial_tries (100), first_reach (0.1), start_tolerance (0.001),
/// theta (0.01).
class Boundary final : public Attack {
 public:
  explicit Boundary(Keys keys) {
    records_ = keys.integer("records", 1000)
                   .at_least(1)
                   .doc("candidates to attack, drawn at random; all, if there are fewer");
    search_.queries = keys.integer("queries", 2500)
                          .at_least(1)
                          .doc("most labels to ask for per record; it stops when they are spent");
    search_.iterations = keys.integer("iterations", 50).at_least(0).doc("most steps per record");
    search_.first_evaluations =
        keys.integer("first_evaluations", 100)
            .at_least(1)
            .doc("directions tried in step 1; sqrt(t) times that in step t");
    search_.most_evaluations =
        keys.integer("most_evaluations", 10000).at_least(1).doc("most directions tried in a step");
    search_.initial_tries = keys.integer("initial_tries", 100)
                                .at_least(1)
                                .doc("random points among which to find one of another label");
    search_.first_reach = keys.number("first_reach", 0.1)
                              .above(0)
                              .doc("how far directions reach in step 1, relative to the range");
    search_.start_tolerance = keys.number("start_tolerance", 0.001)
                                  .within(1e-6, 1)
                                  .doc("where the first bisection ends, relative to the way");
    search_.theta = keys.number("theta", 0.01)
                        .within(1e-4, 1)
                        .doc(
                            "how far directions reach, relative to the distance; bisections end "
                            "at theta / sqrt(features) of the way");
    if (search_.most_evaluations < search_.first_evaluations)
      keys.problem("most_evaluations",
                   fmt::format("most_evaluations must be at least "
                               "first_evaluations, {}, not {}",
                               search_.first_evaluations, search_.most_evaluations));
  }

  Needs needs() const override {
    return {.signal = Needs::Signal::label,
            .records = true,
            .access = Needs::Access::queries,
            .one_threshold = true};
  }

  Findings run(const Scene& scene) override {
    const auto order =
        torch::randperm(scene.size(), scene.stream().at("records").generator(), torch::kLong);
    const auto chosen = std::get<0>(order.slice(0, 0, records_).sort());
    const auto x = scene.records().at(chosen).as_numbers();
    auto search = search_;
    search.low = x.min().item<double>();
    search.high = x.max().item<double>();
    const auto found = hop_skip_jump(
        search, [&](const Tensor& points) { return scene.ask_labels(points); }, x,
        scene.y().index_select(0, chosen), scene.stream().at("search"));
    Findings findings{.scores = torch::zeros({scene.size()}, torch::kDouble),
                      .scored = torch::zeros({scene.size()}, torch::kBool)};
    findings.scores.index_copy_(0, chosen, found.distance);
    findings.scored.index_fill_(0, chosen, true);
    const auto mean = [](const Tensor& values) {
      return values.to(torch::kDouble).mean().item<double>();
    };
    findings.log.metric("queries", mean(found.queries), x.size(0));
    findings.log.metric("unreached", mean(found.unreached), x.size(0));
    return findings;
  }

 private:
  int64_t records_;
  HopSkipJump search_;
};

IMPRINT_ATTACK(Boundary, "boundary",
               "the farther from the decision boundary, the more likely a member; labels only",
               "Choquette-Choo et al., ICML 2021; Li and Zhang, CCS 2021; "
               "Chen et al., S&P 2020 (HopSkipJump)");

}  // namespace
}  // namespace imprint::boundary
