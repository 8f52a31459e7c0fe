// Tests of the attacks that score one answer by a formula: correctness, loss, confidence, entropy,
// modified_entropy.
#include "tests/support/live.h"
#include "tests/support/pool.h"

namespace imprint::metric_attacks_test {
namespace {

Tensor three() { return torch::tensor({{0.7, 0.2, 0.1}, {0.1, 0.8, 0.1}}, torch::kDouble).log(); }

TEST(Correctness, ScoresAndDecidesByThePrediction) {
  const auto attack = attack_of("correctness");
  const Answered target({three(), {}}, zeros(2), {});
  const auto findings = attack->run(Scene(target, {}, attack->needs(), Stream(0)));
  EXPECT_EQ(findings.scores[0].item<double>(), 1);
  EXPECT_EQ(findings.scores[1].item<double>(), 0);
  EXPECT_TRUE(torch::equal(findings.decisions, torch::tensor({true, false})));
}

TEST(Correctness, HasAnAreaOfOneHalfAndHalfTheGapInAccuracy) {
  const auto world = overfitted_pair();
  const auto scored = score_on(world, *attack_of("correctness"));
  const auto right = world.target->columns(Piece::candidates, {})
                         .label.eq(world.target->y(Piece::candidates))
                         .to(torch::kDouble);
  const auto accuracy = [&](const Tensor& who) {
    return right.masked_select(who).mean().item<double>();
  };
  const auto gap = accuracy(world.member()) - accuracy(world.member().logical_not());
  EXPECT_NEAR(scored.auc, 0.5 + gap / 2, 1e-12);
  EXPECT_NEAR(scored.advantage, gap, 1e-12);
  EXPECT_GT(scored.auc_interval.low, 0.5);
}

TEST(Loss, IsTheLogProbabilityOfTheTrueClass) {
  const auto scores = attack_scores("loss", three(), zeros(2));
  EXPECT_NEAR(scores[0].item<double>(), std::log(0.7), 1e-12);
  EXPECT_NEAR(scores[1].item<double>(), std::log(0.1), 1e-12);
}

TEST(Loss, TellsApartWhatRoundsToZeroInSinglePrecision) {
  // Losses of 4e-18 and 2e-22: in float, and even as 1 - p in double, both would be 0.
  const auto logits = torch::tensor({{40.0, 0.0}, {50.0, 0.0}}, torch::kDouble);
  const auto scores = attack_scores("loss", logits, zeros(2));
  EXPECT_NEAR(scores[0].item<double>() / -std::exp(-40.0), 1, 1e-9);
  EXPECT_NEAR(scores[1].item<double>() / -std::exp(-50.0), 1, 1e-9);
}

TEST(Confidence, IsTheLargestProbabilityOrThatOfTheTrueClass) {
  EXPECT_NEAR(attack_scores("confidence", three(), zeros(2))[1].item<double>(), std::log(0.8),
              1e-12);
  EXPECT_NEAR(attack_scores("{name: confidence, of: true}", three(), zeros(2))[1].item<double>(),
              std::log(0.1), 1e-12);
}

TEST(Confidence, RefusesAnUnknownKind) {
  expect_config_error("attack", "{name: confidence, of: maximum}",
                      "of must be one of max, true, not 'maximum'");
}

TEST(Entropy, MatchesHandValues) {  // -(0.7 log 0.7 + 0.2 log 0.2 + 0.1 log 0.1) = 0.801819
  EXPECT_NEAR(attack_scores("entropy", three(), zeros(2))[0].item<double>(), -0.801819, 1e-6);
}

TEST(ModifiedEntropy, MatchesHandValues) {
  // Record 0, y = 0: -(0.3 log 0.7 + 0.2 log 0.8 + 0.1 log 0.9) = 0.162167
  // Record 1, y = 0: -(0.9 log 0.1 + 0.8 log 0.2 + 0.1 log 0.9) = 3.370413
  const auto scores = attack_scores("modified_entropy", three(), zeros(2));
  EXPECT_NEAR(scores[0].item<double>(), -0.162167, 1e-6);
  EXPECT_NEAR(scores[1].item<double>(), -3.370413, 1e-6);
}

TEST(ModifiedEntropy, IsExactForAConfidentWrongAnswer) {
  // p_wrong = 1 - e^-60: log(1 - p_wrong) = -60, and so is log p_y: 60 + 60 in all.
  const auto logits = torch::tensor({{0.0, 60.0}}, torch::kDouble);
  EXPECT_NEAR(attack_scores("modified_entropy", logits, zeros(1))[0].item<double>(), -120, 1e-9);
}

TEST(MetricAttacks, FindMembersOfAnOverfittedModelAndNothingInNoise) {
  for (const auto* attack :
       {"loss", "confidence", "{name: confidence, of: true}", "entropy", "modified_entropy"}) {
    SCOPED_TRACE(attack);
    expect_attack_works(attack);
  }
}

TEST(MetricAttacks, AreNeverNaN) {
  const auto infinity = std::numeric_limits<double>::infinity();
  const Answered target({{}, torch::tensor({{0.0, -infinity}, {-infinity, 0.0}}, torch::kDouble)},
                        zeros(2), {});
  for (const auto* yaml : {"correctness", "loss", "confidence", "entropy", "modified_entropy"}) {
    const auto attack = attack_of(yaml);
    const auto scores = attack->run(Scene(target, {}, attack->needs(), Stream(0))).scores;
    EXPECT_FALSE(scores.isnan().any().item<bool>()) << yaml;
  }
}

}  // namespace
}  // namespace imprint::metric_attacks_test
