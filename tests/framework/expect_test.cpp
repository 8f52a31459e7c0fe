#include "framework/reports/expect.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

namespace imprint::expect_test {
namespace {

using SweptKeys = std::vector<std::pair<std::string, std::string>>;

AttackResult scored_attack(const std::string& name, double advantage, double half = 0.03) {
  AttackResult result;
  result.attack = name;
  result.score.members = result.score.non_members = 200;
  result.score.advantage = advantage;
  result.score.advantage_interval = {advantage - half, advantage + half};
  result.score.auc = 0.5 + advantage / 2;
  result.score.auc_interval = {result.score.auc - half, result.score.auc + half};
  result.score.tpr_at = {{0.001, 0, 0.005, 1, 200, {0, 0.03}, false},
                         {0.01, 0.01, advantage / 2, 20, 200, {0, 1}, true}};
  result.p1 = 1 - advantage;
  return result;
}

/// Results built setting by setting, one cell per seed.
class ClaimBench {
 public:
  /// One cell per advantage, with the seeds 0, 1, 2, ...
  ClaimBench& add(const std::string& defense, const SweptKeys& swept,
                  const std::vector<double>& advantages, double accuracy = 0.6) {
    for (size_t seed = 0; seed < advantages.size(); ++seed) {
      CellResult cell;
      cell.data = "location30";
      cell.model = "mlp";
      cell.defense = cell.label = defense;
      cell.swept = swept;
      cell.seed = static_cast<int64_t>(seed);
      cell.train_accuracy = 1;
      cell.test_accuracy = accuracy;
      cell.test_accuracy_interval = {accuracy - 0.05, accuracy + 0.05};
      cell.attacks = {scored_attack("loss", advantages[seed])};
      cell.p1_cell = CellP1{1 - advantages[seed], "loss", {0, 1}};
      cell.metrics = {{"loss_distribution.variance", 10 * advantages[seed], {}, {}, {}}};
      results.cells.push_back(cell);
    }
    return *this;
  }

  Verdict judged(const std::string& claim) const {
    Problems problems;
    const auto claims = read_claims(parse_yaml("[{claim: c, " + claim + "}]", "f.yaml"), problems);
    problems.raise();
    return judge(claims, results).at(0);
  }

  /// "holds | 0.231 against 0.262 | difference ..."
  std::string found(const std::string& claim) const {
    const auto verdict = judged(claim);
    return verdict.verdict + " | " + verdict.measured + " | " + verdict.interval;
  }

  Results results;
};

/// All problems of one claim, which begins at 1:2; one per line.
std::string refused_claim(const std::string& claim) {
  Problems problems;
  read_claims(parse_yaml("[" + claim + "]", "f.yaml"), problems);
  return joined(problems.lines(), "\n");
}

/// ccl at 0.5 is 0.02, 0.03 and 0.04 below undefended, seed by seed: mean 0.03, deviation 0.01, and
/// t(2) = 4.3027, so the half-width is 4.3027 * 0.01 / sqrt(3) = 0.0248.
ClaimBench three_seeds() {
  return ClaimBench()
      .add("none", {}, {0.20, 0.30, 0.40})
      .add("ccl", {{"ccl.alpha", "0.5"}}, {0.18, 0.27, 0.36});
}

TEST(Expect, HoldsWhenTheIntervalIsOnTheClaimedSide) {
  EXPECT_EQ(three_seeds().found("metric: advantage, attack: loss, cell: {defense: ccl}, "
                                "below: {defense: none}"),
            "holds | 0.270 against 0.300 (ccl.alpha=0.5) | "
            "difference -0.030 [-0.055, -0.005], 3 seeds");
}

TEST(Expect, FailsWhenTheIntervalIsOnTheOtherSide) {
  EXPECT_EQ(three_seeds().found("metric: advantage, attack: loss, cell: {defense: ccl}, "
                                "above: {defense: none}"),
            "fails | 0.270 against 0.300 (ccl.alpha=0.5) | "
            "difference -0.030 [-0.055, -0.005], 3 seeds");
}

// Differences 0, -0.03, -0.06: deviation 0.03, half-width 4.3027 * 0.03 / sqrt(3) = 0.0745.
TEST(Expect, IsUndecidedWhenTheIntervalHoldsZero) {
  const auto experiment =
      ClaimBench().add("none", {}, {0.20, 0.30, 0.40}).add("ccl", {}, {0.20, 0.27, 0.34});
  EXPECT_EQ(experiment.found("metric: advantage, attack: loss, cell: {defense: ccl}, "
                             "below: {defense: none}"),
            "undecided | 0.270 against 0.300 | difference -0.030 [-0.105, 0.045], 3 seeds");
}

TEST(Expect, IsUndecidedBetweenEqualValues) {
  const auto experiment = ClaimBench().add("none", {}, {0.2, 0.3}).add("ccl", {}, {0.2, 0.3});
  EXPECT_EQ(
      experiment.judged("metric: advantage, cell: {defense: ccl}, below: {defense: none}").verdict,
      "undecided");
}

// Values 0.18, 0.27, 0.36: deviation 0.09, half-width 4.3027 * 0.09 / sqrt(3) = 0.2236.
TEST(Expect, ComparesWithANumber) {
  const auto experiment = three_seeds();
  const std::string claim = "metric: advantage, attack: loss, cell: {defense: ccl}, ";
  EXPECT_EQ(experiment.found(claim + "below: 0.2626"),
            "undecided | 0.270 against 0.2626 (ccl.alpha=0.5) | "
            "difference 0.007 [-0.216, 0.231], 3 seeds");
  EXPECT_EQ(experiment.judged(claim + "below: 0.5").verdict, "holds");
  EXPECT_EQ(experiment.judged(claim + "above: 0.5").verdict, "fails");
}

// One seed: 0.10 +- 0.03 against 0.20 +- 0.04 is -0.10 +- sqrt(0.0009 + 0.0016) = 0.05.
TEST(Expect, CombinesTheIntervalsOverRecordsWithOneSeed) {
  auto experiment = ClaimBench().add("none", {}, {0.20}).add("ccl", {}, {0.10});
  experiment.results.cells[0].attacks = {scored_attack("loss", 0.20, 0.04)};
  EXPECT_EQ(experiment.found("metric: advantage, attack: loss, cell: {defense: ccl}, "
                             "below: {defense: none}"),
            "holds | 0.100 against 0.200 | "
            "difference -0.100 [-0.150, -0.050] over records, one seed");
  EXPECT_EQ(experiment.judged("metric: advantage, cell: {defense: ccl}, above: 0.12").verdict,
            "undecided");
  EXPECT_EQ(experiment.judged("metric: advantage, cell: {defense: ccl}, above: 0.14").verdict,
            "fails");
}

// The low end of own (0.02 away) goes with the high end of the rival (0.01 away), and 0.04 with
// 0.03.
TEST(Expect, KeepsLopsidedIntervalsLopsided) {
  auto experiment = ClaimBench().add("none", {}, {0.20}).add("ccl", {}, {0.10});
  experiment.results.cells[0].attacks[0].score.advantage_interval = {0.17, 0.21};
  experiment.results.cells[1].attacks[0].score.advantage_interval = {0.08, 0.14};
  EXPECT_EQ(
      experiment.judged("metric: advantage, cell: {defense: ccl}, below: {defense: none}").interval,
      "difference -0.100 [-0.122, -0.050] over records, one seed");
}

TEST(Expect, IsUndecidedWithOneSeedAndNoInterval) {
  const auto experiment = ClaimBench().add("none", {}, {0.20}).add("ccl", {}, {0.10});
  EXPECT_EQ(experiment.found("metric: loss_distribution.variance, cell: {defense: ccl}, "
                             "below: {defense: none}"),
            "undecided | 1.000 against 2.000 | "
            "difference -1.000; one seed, and no interval over records");
}

TEST(Expect, ComparesOnlySeedsThatBothSidesHave) {
  auto experiment = three_seeds();
  experiment.results.cells.pop_back();  // ccl with seed 2: differences -0.02, -0.03 are left
  // t(1) = 12.706, half-width 12.706 * 0.00707 / sqrt(2) = 0.0635.
  EXPECT_EQ(experiment.found("metric: advantage, attack: loss, cell: {defense: ccl}, "
                             "below: {defense: none}"),
            "undecided | 0.225 against 0.250 (ccl.alpha=0.5) | "
            "difference -0.025 [-0.089, 0.039], 2 seeds");
  EXPECT_EQ(experiment.found("metric: p1_cell, cell: {defense: ccl, seed: 0}, "
                             "above: {defense: none, seed: 1}"),
            "undecided | 0.820 against 0.700 (ccl.alpha=0.5) | no seed in common");
}

TEST(Expect, RepeatsOverTargetsWithOneSeed) {
  auto experiment = three_seeds();
  for (auto& cell : experiment.results.cells) std::swap(cell.seed, cell.target);
  EXPECT_EQ(
      experiment.judged("metric: advantage, cell: {defense: ccl}, below: {defense: none}").interval,
      "difference -0.030 [-0.055, -0.005], 3 targets");
}

// Mean 0.31, deviation 0.01, half-width 0.0248: [0.285, 0.335].
TEST(Expect, JudgesNearByTheWholeInterval) {
  const auto experiment = ClaimBench().add("none", {}, {0.30, 0.31, 0.32});
  const std::string claim = "metric: advantage, attack: loss, cell: {defense: none}, near: ";
  EXPECT_EQ(experiment.found(claim + "[0.3, 0.05]"),
            "holds | 0.310 against 0.3 +- 0.05 | mean 0.310 [0.285, 0.335], 3 seeds");
  EXPECT_EQ(experiment.judged(claim + "[0.3, 0.02]").verdict, "undecided");
  EXPECT_EQ(experiment.judged(claim + "[0.4, 0.05]").verdict, "fails");
}

TEST(Expect, TakesTheSettingNearestToTheValue) {
  const auto experiment = ClaimBench()
                              .add("ccl", {{"ccl.alpha", "0.1"}}, {0.1})
                              .add("ccl", {{"ccl.alpha", "0.5"}}, {0.3});
  EXPECT_EQ(
      experiment.found("metric: advantage, attack: loss, cell: {defense: ccl}, near: [0.25, 0.1]"),
      "holds | 0.300 against 0.25 +- 0.1 (ccl.alpha=0.5, best of 2) | "
      "mean 0.300 [0.270, 0.330] over records, one seed");
}

/// Steps along alpha, seed by seed: 0.1 to 0.5 is +0.10 and +0.12, half-width 12.706 * 0.01 =
/// 0.127; 0.5 to 10 is +0.20 and +0.20, half-width 0.
ClaimBench swept_ccl() {
  return ClaimBench()
      .add("none", {}, {0.9, 0.9})
      .add("ccl", {{"ccl.alpha", "10"}}, {0.40, 0.42})
      .add("ccl", {{"ccl.alpha", "0.1"}}, {0.10, 0.10})
      .add("ccl", {{"ccl.alpha", "0.5"}}, {0.20, 0.22});
}

TEST(Expect, GoesAlongASweepInTheOrderOfItsNumbers) {
  EXPECT_EQ(swept_ccl().found("metric: advantage, attack: loss, cell: {defense: ccl}, "
                              "monotone: {over: alpha, direction: increasing}"),
            "undecided | 0.100, 0.210, 0.410 (ccl.alpha=0.1, 0.5, 10) | "
            "0.1 to 0.5: difference 0.110 [-0.017, 0.237], 2 seeds (the deciding one of 2 steps)");
}

// Steps 0.10 and 0.10, then 0.20 and 0.22, whose half-width of 12.706 * 0.01 comes closer to 0.
TEST(Expect, IsMonotoneWhenEveryStepIs) {
  auto experiment = swept_ccl();
  experiment.results.cells.back().attacks = {scored_attack("loss", 0.20)};
  EXPECT_EQ(experiment.found("metric: advantage, attack: loss, cell: {}, "
                             "monotone: {over: ccl.alpha, direction: increasing}"),
            "holds | 0.100, 0.200, 0.410 (ccl.alpha=0.1, 0.5, 10) | "
            "0.5 to 10: difference 0.210 [0.083, 0.337], 2 seeds (the deciding one of 2 steps)");
}

TEST(Expect, IsNotMonotoneWhenOneStepGoesBack) {
  EXPECT_EQ(swept_ccl().found("metric: advantage, attack: loss, cell: {defense: ccl}, "
                              "monotone: {over: alpha, direction: decreasing}"),
            "fails | 0.100, 0.210, 0.410 (ccl.alpha=0.1, 0.5, 10) | "
            "0.5 to 10: difference 0.200 [0.200, 0.200], 2 seeds (the deciding one of 2 steps)");
}

TEST(Expect, GoesAlongEverySweepThatIsMatched) {
  ClaimBench experiment;
  for (const auto* epochs : {"10", "20"}) {
    experiment.add("ccl", {{"train.epochs", epochs}, {"ccl.alpha", "0.1"}}, {0.1, 0.1});
    experiment.add(
        "ccl", {{"train.epochs", epochs}, {"ccl.alpha", "0.5"}},
        {epochs == std::string("10") ? 0.2 : 0.05, epochs == std::string("10") ? 0.2 : 0.05});
  }
  EXPECT_EQ(experiment.found("metric: advantage, attack: loss, cell: {defense: ccl}, "
                             "monotone: {over: alpha, direction: increasing}"),
            "fails | 0.100, 0.200 (ccl, train.epochs=10; ccl.alpha=0.1, 0.5); "
            "0.100, 0.050 (ccl, train.epochs=20; ccl.alpha=0.1, 0.5) | "
            "0.1 to 0.5 of ccl, train.epochs=20: difference -0.050 [-0.050, -0.050], 2 seeds "
            "(the deciding one of 2 steps)");
}

TEST(Expect, NeedsTwoValuesToBeMonotone) {
  EXPECT_EQ(three_seeds().found("metric: advantage, attack: loss, cell: {defense: ccl}, "
                                "monotone: {over: alpha, direction: increasing}"),
            "undecided | 0.270 (ccl.alpha=0.5) | a single value of alpha");
  EXPECT_EQ(three_seeds().found("metric: advantage, cell: {defense: none}, "
                                "monotone: {over: alpha, direction: increasing}"),
            "undecided | no such cell: {defense: none} has no swept key 'alpha' | ");
}

/// ccl is below none by 0.4, below relaxloss by 0.10 at alpha 2, and above dropout by 0.05.
ClaimBench ccl_and_rivals() {
  return ClaimBench()
      .add("none", {}, {0.50, 0.50})
      .add("ccl", {{"ccl.alpha", "0.1"}}, {0.30, 0.30})
      .add("ccl", {{"ccl.alpha", "0.5"}}, {0.10, 0.10})
      .add("relaxloss", {{"relaxloss.alpha", "1"}}, {0.40, 0.40})
      .add("relaxloss", {{"relaxloss.alpha", "2"}}, {0.20, 0.20})
      .add("dropout", {}, {0.05, 0.05}, 0.3);
}

TEST(Expect, IsLowestWhenBelowEveryRival) {
  EXPECT_EQ(ccl_and_rivals().found("metric: advantage, attack: loss, cell: {defense: ccl}, "
                                   "lowest_among: [{defense: none}, {defense: relaxloss}]"),
            "holds | 0.100 against 0.200 "
            "(ccl.alpha=0.5, best of 2 against relaxloss, relaxloss.alpha=2) | "
            "difference -0.100 [-0.100, -0.100], 2 seeds (the deciding one of 3 rivals)");
}

TEST(Expect, IsNotLowestWhenOneRivalIsLower) {
  EXPECT_EQ(ccl_and_rivals().found("metric: advantage, attack: loss, cell: {defense: ccl}, "
                                   "lowest_among: {data: location30}"),
            "fails | 0.100 against 0.050 (ccl.alpha=0.5, best of 2 against dropout) | "
            "difference 0.050 [0.050, 0.050], 2 seeds (the deciding one of 4 rivals)");
}

TEST(Expect, IsUndecidedWhenOneRivalIsTooClose) {
  auto experiment = ccl_and_rivals();
  experiment.results.cells.back().attacks = {
      scored_attack("loss", 0.35)};  // differences 0.05 and -0.25
  EXPECT_EQ(experiment.judged("metric: advantage, cell: {defense: ccl}, lowest_among: {}").verdict,
            "undecided");
}

TEST(Expect, HoldsRivalsToTheSameCondition) {
  EXPECT_EQ(ccl_and_rivals()
                .judged("metric: advantage, cell: {defense: ccl}, lowest_among: {}, "
                        "where: {test_accuracy: {above: {defense: none}}}")
                .verdict,
            "holds");
  EXPECT_EQ(ccl_and_rivals().found(
                "metric: advantage, cell: {defense: ccl}, lowest_among: {defense: dropout}, "
                "where: {test_accuracy: {above: 0.5}}"),
            "undecided | no such cell: {defense: dropout} where test_accuracy above 0.5 | ");
  EXPECT_EQ(ccl_and_rivals().found(
                "metric: advantage, cell: {defense: ccl}, lowest_among: {defense: ccl}"),
            "undecided | no such cell but the claim's own: {defense: ccl} | ");
}

TEST(Expect, PicksTheBestSettingThatSatisfiesWhere) {
  const auto experiment = ClaimBench()
                              .add("none", {}, {0.5, 0.5}, 0.6)
                              .add("ccl", {{"ccl.alpha", "0.1"}}, {0.1, 0.1}, 0.55)
                              .add("ccl", {{"ccl.alpha", "0.5"}}, {0.3, 0.3}, 0.60)
                              .add("ccl", {{"ccl.alpha", "0.9"}}, {0.4, 0.4}, 0.62);
  const std::string claim = "metric: advantage, attack: loss, cell: {defense: ccl}, ";
  const std::string where = ", where: {test_accuracy: {above: {defense: none}}}";
  EXPECT_EQ(experiment.found(claim + "below: {defense: none}" + where),
            "holds | 0.300 against 0.500 (ccl.alpha=0.5, best of 2) | "
            "difference -0.200 [-0.200, -0.200], 2 seeds");
  EXPECT_EQ(experiment.found(claim + "above: {defense: none}" + where),
            "fails | 0.400 against 0.500 (ccl.alpha=0.9, best of 2) | "
            "difference -0.100 [-0.100, -0.100], 2 seeds");
  EXPECT_EQ(experiment.judged(claim + "below: 0.2").measured,
            "0.100 against 0.2 (ccl.alpha=0.1, best of 3)");
  EXPECT_EQ(
      experiment.judged(claim + "below: 0.2, where: {test_accuracy: {above: 0.61, below: 0.63}}")
          .measured,
      "0.400 against 0.2 (ccl.alpha=0.9)");
  EXPECT_EQ(experiment.found(claim + "below: 0.2, where: {test_accuracy: {above: 0.7}}"),
            "undecided | no such cell: {defense: ccl} where test_accuracy above 0.7 | ");
}

TEST(Expect, TakesTheHardestOpponentThatSatisfiesWhere) {
  auto experiment = ccl_and_rivals();
  for (auto& cell : experiment.results.cells) {
    if (cell.swept == SweptKeys{{"relaxloss.alpha", "2"}}) cell.test_accuracy = 0.2;
  }
  const std::string claim =
      "metric: advantage, attack: loss, cell: {defense: ccl}, below: {defense: relaxloss}";
  EXPECT_EQ(experiment.judged(claim).measured,
            "0.100 against 0.200 (ccl.alpha=0.5, best of 2 against relaxloss.alpha=2)");
  EXPECT_EQ(
      experiment.judged(claim + ", where: {test_accuracy: {above: {defense: none}}}").measured,
      "0.100 against 0.400 (ccl.alpha=0.5, best of 2)");
}

TEST(Expect, ComparesOnTheSameGround) {
  const auto experiment = ClaimBench()
                              .add("none", {{"train.epochs", "10"}}, {0.2, 0.2})
                              .add("ccl", {{"train.epochs", "10"}}, {0.1, 0.1})
                              .add("none", {{"train.epochs", "20"}}, {0.5, 0.5})
                              .add("ccl", {{"train.epochs", "20"}}, {0.4, 0.4});
  const std::string claim =
      "metric: advantage, attack: loss, cell: {defense: ccl, epochs: 20}, below: ";
  EXPECT_EQ(experiment.judged(claim + "{defense: none}").measured,
            "0.400 against 0.500 (train.epochs=20)");
  EXPECT_EQ(experiment.judged(claim + "{defense: none, epochs: 10}").measured,
            "0.400 against 0.200 (train.epochs=20)");
}

TEST(Expect, ComparesModelsTrainedOnAsManyRecords) {
  auto experiment = ClaimBench().add("none", {}, {0.2, 0.2}).add("mixup_mmd", {}, {0.3, 0.3});
  experiment.add("none", {}, {0.5, 0.5});
  const auto size = [&](size_t first, size_t members) {
    for (auto i = first; i < first + 2; ++i)
      experiment.results.cells[i].member_records.resize(members);
  };
  size(0, 1500), size(2, 1200), size(4, 1200);
  for (size_t i = 4; i < 6; ++i) experiment.results.cells[i].label = "none (five-way)";
  EXPECT_EQ(experiment
                .judged("metric: advantage, attack: loss, cell: {defense: mixup_mmd}, "
                        "below: {defense: none}")
                .measured,
            "0.300 against 0.500");
}

// ccl is 0.02 to 0.04 below; taken the wrong way round it is up to 0.0548 on the wrong side.
TEST(Expect, ToleratesTheMarginThatTheClaimAllows) {
  const auto experiment =
      ClaimBench().add("none", {}, {0.30, 0.31, 0.32}).add("ccl", {}, {0.28, 0.28, 0.28});
  const std::string claim = "metric: advantage, attack: loss, cell: {defense: ccl}, above: ";
  EXPECT_EQ(experiment.judged(claim + "{defense: none}").verdict, "fails");
  EXPECT_EQ(experiment.judged(claim + "{defense: none}, margin: 0.03").verdict, "undecided");
  const auto allowed = experiment.judged(claim + "{defense: none}, margin: 0.06");
  EXPECT_EQ(allowed.verdict, "holds");
  EXPECT_NE(allowed.interval.find("; 0.06 on the wrong side will do"), std::string::npos);
  EXPECT_EQ(refused_claim("{claim: c, metric: auc, above: 0.5, margin: -1}"),
            "f.yaml:1:46: margin must be at least 0, not -1");
}

TEST(Expect, SelectsBySweptPathItsLastWordAndNumericValue) {
  const auto experiment = ClaimBench()
                              .add("ccl", {{"ccl.alpha", "0.5"}}, {0.1})
                              .add("ccl", {{"ccl.alpha", "0.7"}}, {0.2});
  for (const auto* selector : {"alpha: 0.5", "ccl.alpha: 0.5", "alpha: 0.50", "alpha: 5e-1"}) {
    EXPECT_EQ(experiment
                  .judged("metric: test_accuracy, cell: {defense: ccl, " + std::string(selector) +
                          "}, below: 0.9")
                  .measured,
              "0.600 against 0.9 (ccl.alpha=0.5)");
  }
}

TEST(Expect, SelectsByNameLabelDataModelAndSeed) {
  auto experiment = ClaimBench().add("ccl", {}, {0.1}).add("ccl", {}, {0.2, 0.3});
  for (size_t i = 1; i < 3; ++i) {
    auto& cell = experiment.results.cells[i];
    cell.label = "CCQL";
    cell.data = "purchase100";
    cell.model = "cnn";
  }
  const auto measured = [&](const std::string& selector) {
    return experiment.judged("metric: advantage, attack: loss, cell: {" + selector + "}, below: 1")
        .measured;
  };
  EXPECT_EQ(measured("defense: ccl"), "0.100 against 1 (ccl, best of 2)");
  for (const auto* selector : {"defense: CCQL", "label: CCQL", "data: purchase100", "model: cnn"}) {
    EXPECT_EQ(measured(selector), "0.250 against 1");
  }
  EXPECT_EQ(measured("label: CCQL, seed: 1"), "0.300 against 1");
}

TEST(Expect, SaysWhichCellIsMissing) {
  EXPECT_EQ(
      three_seeds().found("metric: advantage, cell: {defense: mixup}, below: {defense: none}"),
      "undecided | no such cell: {defense: mixup} | ");
  EXPECT_EQ(three_seeds().found(
                "metric: advantage, cell: {defense: ccl}, below: {defense: ccl, alhpa: 1}"),
            "undecided | no such cell: {defense: ccl, alhpa: 1} "
            "(no swept key 'alhpa'; did you mean 'alpha'?) | ");
  EXPECT_EQ(three_seeds().found(
                "metric: advantage, cell: {defense: ccl, chosen: true}, below: {defense: none}"),
            "undecided | no such cell: {defense: ccl, chosen: true} | ");
  EXPECT_EQ(three_seeds().found(
                "metric: advantage, cell: {defense: ccl, chosn: true}, below: {defense: none}"),
            "undecided | no such cell: {defense: ccl, chosn: true} "
            "(no swept key 'chosn'; did you mean 'chosen'?) | ");
  EXPECT_EQ(three_seeds().found("metric: advantage, cell: {defense: ccl}, below: {alpha: 0.5}"),
            "undecided | no such cell but the claim's own: {alpha: 0.5} | ");
}

TEST(Expect, SaysWhichValueIsMissing) {
  EXPECT_EQ(three_seeds().found("metric: ccl.norm, cell: {defense: ccl}, below: 1"),
            "undecided | no ccl.norm of {defense: ccl} | ");
  EXPECT_EQ(
      three_seeds().found("metric: advantage, attack: neural, cell: {defense: ccl}, below: 1"),
      "undecided | no advantage under attack 'neural' of {defense: ccl} | ");
  EXPECT_EQ(three_seeds().found("metric: tpr_at_0.001, cell: {defense: ccl}, below: 1"),
            "undecided | no tpr_at_0.001 of {defense: ccl} | ");
}

TEST(Expect, TakesTheStrongestAttackUnlessOneIsNamed) {
  auto experiment = ClaimBench().add("none", {}, {0.4}).add("ccl", {}, {0.1});
  experiment.results.cells[1].attacks.push_back(scored_attack("confidence (of=max)", 0.3));
  experiment.results.cells[1].attacks.push_back(scored_attack("confidence (of=true)", 0.2));
  const std::string claim = "metric: auc, cell: {defense: ccl}, below: {defense: none}";
  // auc = 0.5 + advantage / 2.
  EXPECT_EQ(experiment.judged(claim).measured,
            "0.650 against 0.700 (strongest attack confidence (of=max) or loss)");
  EXPECT_EQ(experiment.judged(claim + ", attack: loss").measured, "0.550 against 0.700");
  EXPECT_EQ(
      experiment
          .judged("metric: p1, attack: confidence (of=true), cell: {defense: ccl}, above: 0.5")
          .measured,
      "0.800 against 0.5");
  EXPECT_EQ(experiment.judged("metric: p1, attack: confidence, cell: {defense: ccl}, above: 0.5")
                .measured,
            "0.700 against 0.5 (strongest attack confidence (of=max))");
}

TEST(Expect, IsUndecidedAboutNumbersThatAreNone) {
  auto experiment = three_seeds();
  experiment.results.cells.back().metrics[0].value = std::nan("");
  EXPECT_EQ(
      experiment
          .judged(
              "metric: loss_distribution.variance, cell: {defense: ccl}, above: {defense: none}")
          .verdict,
      "undecided");
}

TEST(Expect, CarriesWhatTheAuthorSays) {
  const std::string claim = "metric: p1_cell, cell: {defense: ccl}, above: {defense: none}, ";
  const auto verdict = three_seeds().judged(claim + "scaled: true, published: [0.608, 0.550]");
  EXPECT_EQ(verdict.claim, "c");
  EXPECT_EQ(verdict.published, "0.608 against 0.550");
  EXPECT_EQ(verdict.verdict, "holds");
  EXPECT_TRUE(verdict.scaled);
  EXPECT_EQ(three_seeds().judged(claim + "published: 0.61").published, "0.61");
  EXPECT_EQ(three_seeds().judged(claim + "published: [1, 2, 3]").published, "1, 2, 3");
  EXPECT_EQ(three_seeds().judged(claim + "published: about half").published, "about half");
  EXPECT_FALSE(three_seeds().judged(claim + "published: 1").scaled);
}

TEST(Expect, AcceptsAFileWithoutClaims) {
  Problems problems;
  EXPECT_TRUE(read_claims({}, problems).empty());
  EXPECT_TRUE(problems.empty());
  EXPECT_TRUE(judge({}, {}).empty());
}

TEST(Expect, RefusesWhatIsNoListOfMaps) {
  Problems problems;
  read_claims(parse_yaml("a: 1", "f.yaml"), problems);
  read_claims(parse_yaml("[ccl]", "f.yaml"), problems);
  EXPECT_EQ(
      problems.lines(),
      (std::vector<std::string>{
          "f.yaml:1:1: expect must be a list",
          "f.yaml:1:2: a claim is a map such as {claim: CCL protects, metric: advantage, cell: "
          "{defense: ccl}, below: {defense: none}}"}));
}

TEST(Expect, RefusesUnknownKeys) {
  EXPECT_EQ(
      refused_claim("{claim: c, metric: auc, abvoe: 0.5, below: 1}"),
      "f.yaml:1:26: unknown key 'abvoe' in this claim; did you mean 'above'? (keys: above, attack, "
      "below, cell, claim, lowest_among, margin, metric, monotone, near, published, scaled, "
      "where)");
  EXPECT_EQ(refused_claim(
                "{claim: c, metric: auc, monotone: {ovr: alpha, over: a, direction: increasing}}"),
            "f.yaml:1:37: unknown key 'ovr' in 'monotone' of this claim; did you mean 'over'? "
            "(keys: direction, over)");
  EXPECT_EQ(refused_claim("{claim: c, metric: auc, below: 1, where: {auc: {abov: 1, below: 1}}}"),
            "f.yaml:1:50: unknown key 'abov' in 'where.auc' of this claim; did you mean 'above'? "
            "(keys: above, below)");
}

TEST(Expect, NeedsAClaimAndAMetric) {
  EXPECT_EQ(refused_claim("{above: 1}"),
            "f.yaml:1:2: this claim needs the key 'claim' (what is claimed, in words)\n"
            "f.yaml:1:2: this claim needs the key 'metric' (a column of results.csv, or "
            "component.metric)");
}

TEST(Expect, NeedsExactlyOneForm) {
  EXPECT_EQ(refused_claim("{claim: c, metric: auc}"),
            "f.yaml:1:2: this claim needs one of above, below, near, monotone, lowest_among");
  EXPECT_EQ(refused_claim("{claim: c, metric: auc, above: 0.5, near: [1, 2]}"),
            "f.yaml:1:44: a claim takes one form, not above and near");
}

TEST(Expect, RefusesUnknownMetrics) {
  const std::string columns =
      " (columns: train_accuracy, test_accuracy, advantage, advantage_best, auc, tpr_at_0.001, "
      "fpr_realised_at_0.001, hits_at_0.001, tpr_at_0.01, fpr_realised_at_0.01, hits_at_0.01, "
      "tpr_at_0.1, fpr_realised_at_0.1, hits_at_0.1, precision, recall, p1, p1_cell, members, "
      "non_members)";
  const std::string neither =
      " is neither a numeric column of results.csv nor a metric named component.metric";
  EXPECT_EQ(refused_claim("{claim: c, metric: advantge, above: 0.5}"),
            "f.yaml:1:21: 'advantge'" + neither + "; did you mean 'advantage'?" + columns);
  EXPECT_EQ(refused_claim("{claim: c, metric: tpr_at_0.05, above: 0.5}"),
            "f.yaml:1:21: 'tpr_at_0.05'" + neither + "; did you mean 'tpr_at_0.01'?" + columns);
  EXPECT_EQ(refused_claim("{claim: c, metric: auc, above: 1, where: {utility: {above: 1}}}"),
            "f.yaml:1:44: 'utility'" + neither + columns);
  EXPECT_EQ(refused_claim("{claim: c, metric: loss_distribution.gap, above: 0.5}"), "");
}

TEST(Expect, RefusesAnAttackThatChangesNothing) {
  EXPECT_EQ(refused_claim("{claim: c, metric: p1_cell, attack: loss, above: 0.5}"),
            "f.yaml:1:38: p1_cell does not depend on the attack; leave out 'attack'");
  EXPECT_EQ(refused_claim(
                "{claim: c, metric: p1_cell, attack: loss, above: 0.5, where: {auc: {below: 1}}}"),
            "");
}

TEST(Expect, RefusesValuesOfTheWrongType) {
  const auto with = [](const std::string& keys) {
    return refused_claim("{claim: c, metric: auc, " + keys + "}");
  };
  EXPECT_EQ(with("above: much"),
            "f.yaml:1:33: above must be a number or a cell such as {defense: none}, not much");
  EXPECT_EQ(with("below: [1, 2]"),
            "f.yaml:1:33: below must be a number or a cell such as {defense: none}, not [1, 2]");
  EXPECT_EQ(with("above: .nan"),
            "f.yaml:1:33: above must be a number or a cell such as {defense: none}, not .nan");
  EXPECT_EQ(with("above: 1, scaled: 3"), "f.yaml:1:44: scaled must be true or false, not 3");
  EXPECT_EQ(with("above: 1, attack: [loss]"), "f.yaml:1:44: attack must be a text, not [loss]");
  EXPECT_EQ(with("above: 1, cell: ccl"),
            "f.yaml:1:42: cell must be a map such as {defense: ccl, alpha: 0.5}, not ccl");
  EXPECT_EQ(with("above: 1, published: {a: 1}"),
            "f.yaml:1:47: published must be a number, a list of numbers or text, not {a: 1}");
  EXPECT_EQ(with("above: 1, published: [1, b]"),
            "f.yaml:1:47: published must be a number, a list of numbers or text, not [1, b]");
}

TEST(Expect, RefusesSelectorsThatNoCellCanMatch) {
  const auto with = [](const std::string& keys) {
    return refused_claim("{claim: c, metric: auc, above: 1, cell: {" + keys + "}}");
  };
  EXPECT_EQ(with("defense: [ccl]"), "f.yaml:1:52: defense must be a name, not [ccl]");
  EXPECT_EQ(with("seed: first"), "f.yaml:1:49: seed must be an integer, not first");
  EXPECT_EQ(with("alpha: "), "f.yaml:1:50: alpha has no value; say which cells are meant");
}

TEST(Expect, RefusesNearWithoutTwoNumbers) {
  const auto near = [](const std::string& value) {
    return refused_claim("{claim: c, metric: auc, near: " + value + "}");
  };
  EXPECT_EQ(near("[0.5]"), "f.yaml:1:32: near must be two numbers, [value, tolerance], not [0.5]");
  EXPECT_EQ(near("0.5"), "f.yaml:1:32: near must be two numbers, [value, tolerance], not 0.5");
  EXPECT_EQ(near("[0.5, wide]"),
            "f.yaml:1:32: near must be two numbers, [value, tolerance], not [0.5, wide]");
  EXPECT_EQ(near("[0.5, -1]"), "f.yaml:1:38: the tolerance of near must be above 0, not -1");
}

TEST(Expect, RefusesMonotoneWithoutKeyOrDirection) {
  const auto monotone = [](const std::string& value) {
    return refused_claim("{claim: c, metric: auc, monotone: " + value + "}");
  };
  EXPECT_EQ(monotone("alpha"), "f.yaml:1:36: monotone must be a map of keys, not alpha");
  EXPECT_EQ(monotone("{direction: increasing}"),
            "f.yaml:1:36: this claim needs the key 'monotone.over' (the swept key to go along, "
            "such as ccl.alpha)");
  EXPECT_EQ(
      monotone("{over: alpha}"),
      "f.yaml:1:36: this claim needs the key 'monotone.direction' (increasing or decreasing)");
  EXPECT_EQ(
      monotone("{over: alpha, direction: incresing}"),
      "f.yaml:1:61: monotone.direction must be one of increasing, decreasing, not 'incresing'; "
      "did you mean 'increasing'?");
}

TEST(Expect, RefusesLowestAmongWithoutCells) {
  const auto lowest = [](const std::string& value) {
    return refused_claim("{claim: c, metric: auc, lowest_among: " + value + "}");
  };
  const std::string must =
      "f.yaml:1:40: lowest_among must be a cell such as {defense: ccl} or a list of cells, not ";
  EXPECT_EQ(lowest("none"), must + "none");
  EXPECT_EQ(lowest("[none, ccl]"), must + "[none, ccl]");
  EXPECT_EQ(lowest("[]"), must + "[]");
}

TEST(Expect, RefusesWhereWithoutASide) {
  const auto where = [](const std::string& value) {
    return refused_claim("{claim: c, metric: auc, above: 1, where: " + value + "}");
  };
  EXPECT_EQ(where("auc"), "f.yaml:1:43: where must be a map of keys, not auc");
  EXPECT_EQ(where("{auc: 1}"), "f.yaml:1:49: where.auc must be a map of keys, not 1");
  EXPECT_EQ(where("{auc: {}}"), "f.yaml:1:49: where.auc needs above or below");
  EXPECT_EQ(
      where("{auc: {above: high}}"),
      "f.yaml:1:57: where.auc.above must be a number or a cell such as {defense: none}, not high");
}

}  // namespace
}  // namespace imprint::expect_test
