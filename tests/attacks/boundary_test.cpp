#include <algorithm>

#include "framework/privacy/hop_skip_jump.h"
#include "framework/privacy/scoring.h"
#include "tests/support/live.h"
#include "tests/support/pool.h"

namespace imprint::boundary_test {
namespace {

/// Label 1 on one side of a plane, 0 on the other; counts what it is asked.
struct Plane {
  Tensor normal;
  double offset = 0;
  int64_t asked = 0;

  Tensor height(const Tensor& x) const { return (x.flatten(1) * normal).sum(1) + offset; }
  Tensor label(const Tensor& x) const { return height(x).gt(0).to(torch::kLong); }
  Tensor distance(const Tensor& x) const {
    return (height(x).abs() / normal.norm()).to(torch::kDouble);
  }
  LabelOracle oracle() {
    return [this](const Tensor& x) {
      asked += x.size(0);
      return label(x);
    };
  }
};

Plane plane(int64_t features) {
  return {torch::randn({features}, Stream(1).generator(), torch::kFloat), 0.3};
}

Tensor records(int64_t n, int64_t features) {
  return torch::randn({n, features}, Stream(2).generator(), torch::kFloat);
}

/// Bounds so wide that the nearest point of the boundary lies within them.
HopSkipJump wide(int64_t queries = 2500) { return {.low = -6, .high = 6, .queries = queries}; }

/// The definition, one record and one question at a time, without a budget: distance and queries.
std::pair<double, int64_t> slowly(const HopSkipJump& search, const LabelOracle& oracle,
                                  const Tensor& x, int64_t y, const Stream& stream) {
  int64_t asked = 0;
  const auto differs = [&](const Tensor& point) {
    ++asked;
    return oracle(point.unsqueeze(0)).item<int64_t>() != y;
  };
  const auto bisected = [&](const Tensor& z, double tolerance) {
    double same = 0, other = 1;
    while (other - same > tolerance) {
      const auto middle = (same + other) / 2;
      (differs(x * (1 - middle) + z * middle) ? other : same) = middle;
    }
    return x * (1 - other) + z * other;
  };
  const auto away = [&](const Tensor& z) { return (z - x).norm().item<double>(); };
  if (differs(x)) return {0, asked};
  auto z = x;
  for (uint64_t i = 0; z.equal(x) || !differs(z); ++i)
    z = torch::empty_like(x).uniform_(search.low, search.high, stream.at("start", i).generator());
  const auto tolerance = search.theta / std::sqrt(static_cast<double>(x.numel()));
  z = bisected(bisected(z, search.start_tolerance), tolerance);
  auto nearest = away(z), reach = search.first_reach * (search.high - search.low);
  for (int64_t t = 0; t < search.iterations; ++t) {
    const auto root = std::sqrt(static_cast<double>(t + 1));
    const auto count =
        std::min(static_cast<int64_t>(search.first_evaluations * root), search.most_evaluations);
    auto u = torch::empty({count, x.numel()});
    u.normal_(0, 1, stream.at("directions", static_cast<uint64_t>(t)).generator());
    const auto f = torch::empty({count, 1});
    for (int64_t i = 0; i < count; ++i) {
      const auto point = (z + reach * u[i] / u[i].norm()).clamp(search.low, search.high);
      f[i] = differs(point) ? 1 : -1;
      u[i] = (point - z) / reach;
    }
    const bool agree = f.eq(f[0]).all().item<bool>();
    auto v = ((agree ? f : f - f.mean()) * u).mean(0);
    v = v / v.norm();
    auto next = z;
    auto length = 2 * away(z) / root;
    do {
      length /= 2;
      next = (z + length * v).clamp(search.low, search.high);
    } while (!differs(next));
    reach = search.theta * away(next);
    z = bisected(next, tolerance);
    nearest = std::min(nearest, away(z));
  }
  return {nearest, asked};
}

TEST(HopSkipJump, IsTheDefinitionRecordByRecord) {
  auto half = plane(12);
  const auto x = records(15, 12).clamp(-1, 1);
  const auto y = half.label(x);
  // Bounds so narrow that they matter; in half of the rounds few directions, which may all agree.
  for (const int64_t evaluations : {4, 30}) {
    const HopSkipJump search{.low = -1,
                             .high = 1,
                             .queries = 1'000'000,
                             .iterations = 4,
                             .first_evaluations = evaluations,
                             .most_evaluations = 50};
    const auto fast = hop_skip_jump(search, half.oracle(), x, y, Stream(3));
    for (int64_t i = 0; i < x.size(0); ++i) {
      const auto [distance, queries] =
          slowly(search, half.oracle(), x[i], y[i].item<int64_t>(), Stream(3).at("record", i));
      EXPECT_NEAR(fast.distance[i].item<double>(), distance, 1e-4 * distance) << i;
      EXPECT_EQ(fast.queries[i].item<int64_t>(), queries) << i;
    }
  }
}

TEST(HopSkipJump, FindsTheDistanceToAPlane) {
  auto half = plane(20);
  const auto x = records(200, 20);
  const auto found = hop_skip_jump(wide(), half.oracle(), x, half.label(x), Stream(3));
  const auto ratio = found.distance / half.distance(x);
  EXPECT_GT(ratio.min().item<double>(), 1 - 1e-4);
  EXPECT_LT(ratio.median().item<double>(), 1.02);
  EXPECT_LT(ratio.max().item<double>(), 1.05);
}

TEST(HopSkipJump, FindsTheDistanceToASphere) {  // from inside: 1 - |x|
  const auto label = [](const Tensor& x) { return x.norm(2, 1).gt(1).to(torch::kLong); };
  auto x = records(100, 10);
  x = x / x.norm(2, 1, true) * torch::linspace(0.2, 0.95, 100).unsqueeze(1);
  const HopSkipJump search{.low = -2, .high = 2, .queries = 5000};
  const auto found = hop_skip_jump(search, label, x, zeros(100), Stream(3));
  const auto ratio = found.distance / (1 - x.to(torch::kDouble).norm(2, 1));
  EXPECT_GT(ratio.min().item<double>(), 1 - 1e-4);
  EXPECT_LT(ratio.median().item<double>(), 1.05);
}

TEST(HopSkipJump, NeverGoesBelowTheDistanceAndComesNearerWithMoreQueries) {
  auto half = plane(20);
  const auto x = records(100, 20);
  double last = std::numeric_limits<double>::infinity();
  for (const int64_t queries : {40, 200, 1000, 4000}) {
    const auto found = hop_skip_jump(wide(queries), half.oracle(), x, half.label(x), Stream(3));
    const auto ratio = found.distance / half.distance(x);
    EXPECT_GT(ratio.min().item<double>(), 1 - 1e-4) << queries;
    EXPECT_LT(ratio.mean().item<double>(), last) << queries;
    last = ratio.mean().item<double>();
  }
}

TEST(HopSkipJump, GivesMisclassifiedRecordsZeroForOneQuery) {
  auto half = plane(5);
  const auto x = records(10, 5);
  const auto y = half.label(x);
  const auto found = hop_skip_jump(wide(), half.oracle(), x, 1 - y, Stream(3));
  EXPECT_TRUE(found.distance.eq(0).all().item<bool>());
  EXPECT_TRUE(found.queries.eq(1).all().item<bool>());
  EXPECT_FALSE(found.unreached.any().item<bool>());
}

TEST(HopSkipJump, GivesZeroWhereNoStartIsFound) {
  const auto found = hop_skip_jump(
      {.initial_tries = 7}, [](const Tensor& x) { return zeros(x.size(0)); }, torch::rand({3, 4}),
      zeros(3), Stream(0));
  EXPECT_TRUE(found.distance.eq(0).all().item<bool>());
  EXPECT_TRUE(found.queries.eq(8).all().item<bool>());
  EXPECT_TRUE(found.unreached.all().item<bool>());
}

TEST(HopSkipJump, CountsEveryQueryAndKeepsTheBudget) {
  auto half = plane(20);
  const auto x = records(60, 20);
  const auto y = half.label(x);
  for (const int64_t queries : {1, 2, 5, 11, 25, 60, 150, 700, 2500}) {
    half.asked = 0;
    const auto found = hop_skip_jump(wide(queries), half.oracle(), x, y, Stream(3));
    EXPECT_EQ(found.queries.sum().item<int64_t>(), half.asked);
    EXPECT_LE(found.queries.max().item<int64_t>(), queries);
    // What is left over would not have paid for a direction, a step and a bisection.
    if (queries > 60) {
      EXPECT_GE(found.queries.min().item<int64_t>(), queries - 12);
    }
  }
}

TEST(HopSkipJump, SpendsItsLastQueriesOnAStepAndABisection) {
  auto half = plane(20);
  const auto x = records(1, 20);
  std::vector<int64_t> sizes;
  const auto oracle = [&](const Tensor& points) {
    sizes.push_back(points.size(0));
    return half.label(points);
  };
  hop_skip_jump(wide(700), oracle, x, half.label(x), Stream(3));
  EXPECT_GT(std::count_if(sizes.begin(), sizes.end(), [](auto size) { return size > 1; }), 2);
  EXPECT_TRUE(std::all_of(sizes.end() - 10, sizes.end(), [](auto size) { return size == 1; }));
}

TEST(HopSkipJump, WithoutABudgetMakesAllItsSteps) {
  // 1 for the record, at least 1 for the start; bisections of 10 (to 0.001) and of 9 rounds (to
  // 0.01 / sqrt(20) = 0.0022); steps of 10, 14 and 15 (at most) directions, each at least 1 trial.
  auto half = plane(20);
  const auto x = records(50, 20);
  auto search = wide(1'000'000);
  search.iterations = 3;
  search.first_evaluations = 10;
  search.most_evaluations = 15;
  const auto found = hop_skip_jump(search, half.oracle(), x, half.label(x), Stream(3));
  EXPECT_EQ(found.queries.min().item<int64_t>(), 1 + 1 + 10 + 9 + (10 + 14 + 15) + 3 * (1 + 9));
}

TEST(HopSkipJump, DependsOnNothingButTheRecordAndItsStream) {
  auto half = plane(45);
  const auto x = records(60, 45);
  const auto y = half.label(x);
  const auto found = [&](int64_t chunk, int64_t n, uint64_t seed = 3) {
    auto search = wide(1500);
    search.chunk = chunk;
    return hop_skip_jump(search, half.oracle(), x.slice(0, 0, n), y.slice(0, 0, n), Stream(seed));
  };
  const auto whole = found(1 << 22, 60);
  for (const int64_t chunk : {1, 500, 20'000, 1 << 20}) {
    const auto parts = found(chunk, 60);
    EXPECT_TRUE(torch::equal(whole.distance, parts.distance)) << chunk;
    EXPECT_TRUE(torch::equal(whole.queries, parts.queries)) << chunk;
  }
  EXPECT_TRUE(torch::equal(whole.distance.slice(0, 0, 7), found(1 << 22, 7).distance));
  EXPECT_FALSE(torch::equal(whole.distance, found(1 << 22, 60, 4).distance));
}

TEST(HopSkipJump, AsksInPartsWhereOneRecordsDirectionsAreTooMany) {
  auto half = plane(5000);
  const auto x = records(2, 5000);
  int64_t largest = 0;
  const auto oracle = [&](const Tensor& points) {
    largest = std::max(largest, points.numel());
    return half.label(points);
  };
  auto search = wide(100'000);
  search.iterations = 1;
  search.first_evaluations = 2000;
  const auto found = hop_skip_jump(search, oracle, x, half.label(x), Stream(3));
  EXPECT_GT(found.queries.min().item<int64_t>(), 2000);
  EXPECT_GT((found.distance / half.distance(x)).min().item<double>(), 1 - 1e-4);
  EXPECT_LE(largest, 1 << 22);
}

TEST(HopSkipJump, AsksAboutPointsOfTheRecordsShapeWithinTheBounds) {
  auto half = plane(48);
  half.offset = -half.normal.sum().item<double>() / 2;  // through the middle of the cube
  const auto x = torch::rand({20, 3, 4, 4}, Stream(5).generator(), torch::kFloat);
  const auto oracle = [&](const Tensor& points) {
    EXPECT_EQ(points.sizes().slice(1), x.sizes().slice(1));
    EXPECT_GE(points.min().item<float>(), 0);
    EXPECT_LE(points.max().item<float>(), 1);
    return half.label(points);
  };
  const auto found = hop_skip_jump({.queries = 800}, oracle, x, half.label(x), Stream(3));
  EXPECT_GT((found.distance / half.distance(x)).min().item<double>(), 1 - 1e-4);
}

TEST(HopSkipJump, IsNeverNaN) {
  // Bounds that leave a single point; a label that changes with every question.
  auto half = plane(3);
  const auto x = torch::ones({4, 3});
  const auto one = hop_skip_jump({.low = 1, .high = 1}, half.oracle(), x, half.label(x), Stream(0));
  EXPECT_TRUE(one.distance.eq(0).all().item<bool>());
  bool odd = false;
  const auto fickle = [&](const Tensor& points) {
    odd = !odd;
    return (torch::arange(points.size(0)) + (odd ? 0 : 1)).remainder(2);
  };
  const auto found = hop_skip_jump({.queries = 300}, fickle, x, zeros(4), Stream(0));
  EXPECT_TRUE(found.distance.isfinite().all().item<bool>());
  EXPECT_LE(found.queries.max().item<int64_t>(), 300);
}

/// Counts the records that a network is asked about.
class Counting final : public Model {
 public:
  explicit Counting(std::shared_ptr<Model> model)
      : model_(register_module("model", std::move(model))) {}
  Tensor forward(const Tensor& x) override {
    asked += x.size(0);
    return model_->forward(x);
  }
  int64_t asked = 0;

 private:
  std::shared_ptr<Model> model_;
};

/// A network that overfits 150 records, with as many others as candidates.
struct Overfitted {
  Overfitted() {
    const auto split = small_split(150, 30, 4);
    const auto net = train_small("none", split, "{epochs: 60}", "{name: mlp, hidden: [64]}").model;
    model = std::make_shared<Counting>(net);
    const Dataset candidates{torch::cat({split.train.x.all(), split.test.x.all()}),
                             torch::cat({split.train.y, split.test.y}), 4};
    target = std::make_shared<Live>(model, candidates, torch::arange(300).lt(150), Dataset{});
  }

  Findings attacked_by(const std::string& yaml, uint64_t seed = 0) const {
    const auto attack = attack_of(yaml);
    return attack->run(Scene(*target, {}, attack->needs(), Stream(seed)));
  }

  std::shared_ptr<Counting> model;
  std::shared_ptr<Live> target;
};

double metric(const Findings& findings, const std::string& name) {
  for (const auto& each : findings.log.metrics)
    if (each.name == name) return each.value;
  return std::nan("");
}

TEST(Boundary, FindsMembersOfAnOverfittedModelByLabelsOnly) {
  const Overfitted world;
  const auto findings = world.attacked_by("{name: boundary, queries: 600}");
  const auto flags = world.target->member().to(torch::kUInt8);
  const auto scored =
      score({findings.scores.const_data_ptr<double>(), 300}, {flags.const_data_ptr<uint8_t>(), 300},
            {flags.const_data_ptr<uint8_t>(), 300});
  EXPECT_GT(scored.auc_interval.low, 0.5);
  // What is right has a distance, what is wrong has none.
  const auto right =
      world.target->columns(Piece::candidates, {}).label.eq(world.target->y(Piece::candidates));
  EXPECT_TRUE(torch::equal(findings.scores.gt(0), right));
}

/// A model that saw nobody: a plane has its classes on either side.
class Halves final : public Model {
 public:
  explicit Halves(Plane plane) : plane_(std::move(plane)) {}
  Tensor forward(const Tensor& x) override {
    const auto height = plane_.height(x);
    return torch::stack({torch::zeros_like(height), height}, 1);
  }

 private:
  Plane plane_;
};

// 200 audits of 60 records, of which half are called members. An interval that covers in 95 % of
// cases misses 10 of them on average, and more than 23, or none, about once in 10000 times each; 94
// % would take thousands of audits, for which this attack asks too much.
TEST(Boundary, FindsNobodyInAModelThatSawNobody) {
  constexpr int64_t n = 3000;
  Coverage coverage;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    const Stream stream(seed);
    const auto normal = [&](const char* what, at::IntArrayRef shape) {
      return torch::randn(shape, stream.at(what).generator(), torch::kFloat);
    };
    const Plane half{normal("plane", {4}), 0.2};
    const auto x = normal("x", {n, 4});
    const Live target(std::make_shared<Halves>(half), {x, half.label(x), 2},
                      torch::randperm(n, stream.at("member").generator(), torch::kLong) < n / 2,
                      Dataset{});
    const auto attack = attack_of("{name: boundary, records: 3000, queries: 40}");
    const auto found = attack->run(Scene(target, {}, attack->needs(), stream));
    EXPECT_TRUE(found.scored.all().item<bool>());
    coverage.add(found.scores, target.member(), 60);
  }
  EXPECT_EQ(coverage.audits(), 200);
  EXPECT_GE(coverage.covered(), 177);
  EXPECT_LE(coverage.covered(), 199);
}

TEST(Boundary, LogsTheQueriesThatItSpent) {
  const Overfitted world;
  const auto findings = world.attacked_by("{name: boundary, records: 80, queries: 333}");
  EXPECT_EQ(findings.scored.sum().item<int64_t>(), 80);
  EXPECT_NEAR(metric(findings, "queries") * 80, static_cast<double>(world.model->asked), 1e-6);
  EXPECT_LE(metric(findings, "queries"), 333);
  EXPECT_EQ(metric(findings, "unreached"), 0);
  EXPECT_TRUE(
      findings.scores.masked_select(findings.scored.logical_not()).eq(0).all().item<bool>());
}

TEST(Boundary, IsAFunctionOfItsStream) {
  const Overfitted world;
  const std::string yaml = "{name: boundary, records: 50, queries: 200}";
  const auto once = world.attacked_by(yaml), again = world.attacked_by(yaml),
             other = world.attacked_by(yaml, 1);
  EXPECT_TRUE(torch::equal(once.scores, again.scores));
  EXPECT_TRUE(torch::equal(once.scored, again.scored));
  EXPECT_FALSE(torch::equal(once.scored, other.scored));
}

TEST(Boundary, DecidesByOneThresholdFittedOnAShadow) {
  const auto pair = overfitted_pair();
  const auto attack = attack_of("{name: boundary, records: 100, queries: 300}");
  const auto findings = run_attack(*attack, pair.scene(attack->needs()), false);
  const auto in = findings.scores.masked_select(findings.decisions);
  const auto out =
      findings.scores.masked_select(findings.decisions.logical_not() & findings.scored);
  EXPECT_GE(in.min().item<double>(), out.max().item<double>());
  EXPECT_FALSE((findings.decisions & findings.scored.logical_not()).any().item<bool>());
}

TEST(Boundary, SaysWhatItNeeds) {
  EXPECT_EQ(attack_of("boundary")->needs().words(),
            "black box, labels only, asks about records of its own making; knows the true labels "
            "and the records; one shadow model, for the threshold");
}

TEST(Boundary, RefusesKeysOutsideTheirRanges) {
  const auto refused = [](const std::string& keys, const std::string& message) {
    expect_config_error("attack", "{name: boundary, " + keys + "}", message);
  };
  refused("records: 0", "records must be at least 1, not 0");
  refused("queries: 0", "queries must be at least 1, not 0");
  refused("queries: 2.5", "queries must be an integer, not 2.5");
  refused("iterations: -1", "iterations must be at least 0, not -1");
  refused("initial_tries: 0", "initial_tries must be at least 1, not 0");
  refused("first_evaluations: 0", "first_evaluations must be at least 1, not 0");
  refused("most_evaluations: 50",
          "most_evaluations must be at least first_evaluations, 100, not 50");
  refused("first_reach: 0", "first_reach must be above 0, not 0");
  refused("start_tolerance: 2", "start_tolerance must be between 1e-06 and 1, not 2");
  refused("theta: 0", "theta must be between 0.0001 and 1, not 0");
}

}  // namespace
}  // namespace imprint::boundary_test
