#include "framework/privacy/scoring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <stdexcept>

namespace imprint::scoring_test {
namespace {

using Bits = std::vector<uint8_t>;
using Scores = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double uniform(std::mt19937_64& generator) {
  return static_cast<double>(generator() >> 11) * 0x1p-53;
}

/// The first `members` of `n` candidates are members.
Bits first_members(size_t members, size_t n) {
  Bits member(n, 0);
  std::fill_n(member.begin(), members, 1);
  return member;
}

/// One bit per candidate: `members` and `non_members` of either group are called members.
Bits calls(const Bits& member, int members, int non_members) {
  Bits result;
  for (const auto bit : member) result.push_back((bit != 0 ? members : non_members)-- > 0);
  return result;
}

/// A few distinct scores, both infinities among them, in both groups.
std::pair<Scores, Bits> tied_candidates(uint64_t seed) {
  std::mt19937_64 generator(seed);
  const Scores values = {-kInfinity, -1.5, 0, 0.25, 0.5, 1, 3, kInfinity};
  Scores scores;
  Bits member = {1, 0};
  while (member.size() < 10 + seed % 40) member.push_back(generator() % 3 == 0);
  for (const auto bit : member) scores.push_back(values[(generator() % 7) + bit]);
  return {scores, member};
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

double above(double a, double b) { return a > b ? 1 : a == b ? 0.5 : 0; }

/// DeLong's definition, pair by pair.
Auc slow_auc(const Scores& scores, const Bits& member) {
  Scores components[2];
  for (size_t i = 0; i < scores.size(); ++i) {
    double wins = 0, pairs = 0;
    for (size_t j = 0; j < scores.size(); ++j) {
      if (member[i] == member[j]) continue;
      wins += member[i] ? above(scores[i], scores[j]) : above(scores[j], scores[i]);
      ++pairs;
    }
    components[member[i]].push_back(wins / pairs);
  }
  Auc result;
  for (const auto& group : components) {
    const auto n = static_cast<double>(group.size());
    double sum = 0, squares = 0;
    for (const double value : group) sum += value;
    for (const double value : group) squares += std::pow(value - sum / n, 2);
    result.value = sum / n;
    result.variance += n == 1 ? kInfinity : squares / (n - 1) / n;
  }
  return result;
}

TEST(Scoring, RocMergesTiesAndRunsFromNobodyToEverybody) {
  const auto curve = roc(Scores{3, 2, 2, 2, 1}, Bits{1, 1, 1, 0, 0});
  EXPECT_EQ(curve.threshold, (Scores{kInfinity, 3, 2, 1}));
  EXPECT_EQ(curve.fpr, (Scores{0, 0, 0.5, 1}));
  EXPECT_EQ(curve.tpr, (Scores{0, 1.0 / 3, 1, 1}));
}

TEST(Scoring, AucCountsTiesAsHalf) {
  // Members 3, 2, 2 against 2, 1: (1 + 1) + (1/2 + 1) + (1/2 + 1) = 5 of 6 pairs. Components of
  // members 1, 3/4, 3/4 (variance 1/48), of non-members 2/3, 1 (1/18): 1/48/3 + 1/18/2 = 5/144.
  const auto area = auc(Scores{3, 2, 2, 2, 1}, Bits{1, 1, 1, 0, 0});
  EXPECT_DOUBLE_EQ(area.value, 5.0 / 6);
  EXPECT_DOUBLE_EQ(area.variance, 5.0 / 144);
}

TEST(Scoring, AucAndItsVarianceEqualThePairwiseDefinition) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const auto [scores, member] = tied_candidates(seed);
    const auto fast = auc(scores, member), slow = slow_auc(scores, member);
    EXPECT_NEAR(fast.value, slow.value, 1e-12);
    if (std::isinf(slow.variance)) {
      EXPECT_EQ(fast.variance, slow.variance);
    } else {
      EXPECT_NEAR(fast.variance, slow.variance, 1e-12);
    }
  }
}

TEST(Scoring, BestThresholdEqualsTheLargestOfAllThatAreTriedOneByOne) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const auto [scores, member] = tied_candidates(seed);
    const int members = static_cast<int>(std::count(member.begin(), member.end(), 1));
    const int non_members = static_cast<int>(member.size()) - members;
    double best = -kInfinity;
    int best_gain = std::numeric_limits<int>::min();
    for (const double t : scores) {
      int gain = 0;  // times 2 members non_members, without the constant non_members part
      for (size_t i = 0; i < scores.size(); ++i) {
        if (scores[i] >= t) gain += member[i] ? non_members : -members;
      }
      if (gain > best_gain || (gain == best_gain && t > best)) {
        best = t;
        best_gain = gain;
      }
    }
    EXPECT_EQ(best_threshold(scores, member), best);
  }
}

TEST(Scoring, BestThresholdOfEquallyGoodOnesIsTheLargest) {
  // At 4: (1/2 + 1) / 2; at 3: (1/2 + 1/2) / 2; at 2: (1 + 1/2) / 2, as good as at 4.
  EXPECT_EQ(best_threshold(Scores{4, 2, 3, 1}, Bits{1, 1, 0, 0}), 4);
}

TEST(Scoring, ClassThresholdsAreTheBestOfEachClass) {
  // Class 0: members 3, 2, others 1; class 1: members only, so the one for all; class 2: nobody.
  const std::vector<double> scores{3, 2, 1, 9, 8};
  const std::vector<uint8_t> member{1, 1, 0, 1, 1};
  const std::vector<int64_t> y{0, 0, 0, 1, 1};
  const auto limits = class_thresholds(scores, member, y, 3);
  EXPECT_EQ(limits, (std::vector<double>{2, 2, 2}));
  const std::vector<uint8_t> mixed{0, 0, 1, 1, 0};
  const auto both = class_thresholds(scores, mixed, y, 2);
  EXPECT_EQ(both[1], 9);  // only 9 is a member
  EXPECT_EQ(both[0], 1);  // the member has the lowest score: at best everybody is called one
}

TEST(Scoring, DecisionsGiveRatesPrecisionAndAdvantage) {
  // 3 of 4 members and 1 of 5 non-members are called members.
  const auto member = first_members(4, 9);
  const auto result = score(Scores{9, 8, 2, 1, 7, 6, 5, 4, 3}, calls(member, 3, 1), member);
  EXPECT_EQ(result.members, 4);
  EXPECT_EQ(result.non_members, 5);
  EXPECT_DOUBLE_EQ(result.tpr, 0.75);
  EXPECT_DOUBLE_EQ(result.recall, 0.75);
  EXPECT_DOUBLE_EQ(result.fpr, 0.2);
  EXPECT_DOUBLE_EQ(result.precision, 0.75);
  EXPECT_DOUBLE_EQ(result.advantage, 0.55);
  EXPECT_DOUBLE_EQ(result.advantage_best, 0.5);  // at 8: 2 of 4 against none
  EXPECT_DOUBLE_EQ(result.auc, 0.5);             // 5 + 5 + 0 + 0 of 20 pairs
}

TEST(Scoring, PrecisionIsZeroWhenNothingIsCalledAMember) {
  const auto result = score(Scores{2, 1}, Bits{0, 0}, Bits{1, 0});
  EXPECT_EQ(result.precision, 0);
  EXPECT_EQ(result.advantage, 0);
}

TEST(Scoring, TprAtTakesAllMembersUpToTheRateThatIsStillAllowed) {
  // Non-members 0 to 999; 1, 10 and 100 of them may be false alarms, so members down to 998.5,
  // 989.5 and 899.5 are found.
  Scores scores = {998.5, 989.5, 989.0, 899.5, 898.5};
  for (int i = 0; i < 1000; ++i) scores.push_back(i);
  const auto member = first_members(5, 1005);
  const auto at = score(scores, Bits(1005, 0), member).tpr_at;
  ASSERT_EQ(at.size(), 3u);
  const std::vector<int64_t> hits = {1, 2, 4};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(at[i].fpr, reported_fprs()[i]);
    EXPECT_EQ(at[i].fpr_realised, reported_fprs()[i]);
    EXPECT_EQ(at[i].hits, hits[i]);
    EXPECT_EQ(at[i].members, 5);
    EXPECT_DOUBLE_EQ(at[i].tpr, static_cast<double>(hits[i]) / 5);
    EXPECT_EQ(at[i].interval.low, clopper_pearson(hits[i], 5).low);
    EXPECT_EQ(at[i].interval.high, clopper_pearson(hits[i], 5).high);
    EXPECT_TRUE(at[i].enough);
  }
}

TEST(Scoring, TprAtStopsBeforeATieThatWouldPassTheLevel) {
  // The second score is shared by a member and 3 of 20 non-members: 0.15 is above 0.1.
  Scores scores(22, 0);
  scores[0] = 2;
  scores[1] = scores[2] = scores[3] = scores[4] = 1;
  const auto at = score(scores, Bits(22, 0), first_members(2, 22)).tpr_at.back();
  EXPECT_EQ(at.fpr_realised, 0);
  EXPECT_EQ(at.hits, 1);
}

TEST(Scoring, EnoughMeansOneOverTheLevelNonMembers) {
  const auto enough = [](size_t non_members, size_t level) {
    const auto n = non_members + 1;
    return score(Scores(n, 0), Bits(n, 0), first_members(1, n)).tpr_at[level].enough;
  };
  EXPECT_TRUE(enough(1000, 0));
  EXPECT_FALSE(enough(999, 0));
  EXPECT_TRUE(enough(100, 1));
  EXPECT_FALSE(enough(99, 1));
  EXPECT_TRUE(enough(10, 2));
  EXPECT_FALSE(enough(9, 2));
}

TEST(Scoring, ThinnedCurveKeepsItsEndsAndItsLowFprPart) {
  std::mt19937_64 generator(1);
  Scores scores;
  for (int i = 0; i < 4000; ++i) scores.push_back(uniform(generator) + (i < 2000 ? 0.3 : 0));
  const auto whole = roc(scores, first_members(2000, 4000));
  const auto thin = thinned(whole, 100);
  EXPECT_LE(thin.fpr.size(), 100u);
  EXPECT_GE(thin.fpr.size(), 60u);
  EXPECT_EQ(thin.threshold.front(), kInfinity);
  EXPECT_EQ(thin.tpr.back(), 1);
  // The climb at FPR 0 ends at about 0.3, and its top is there exactly.
  const auto top = [](const Roc& curve) {
    return *(curve.tpr.begin() + std::count(curve.fpr.begin(), curve.fpr.end(), 0.0) - 1);
  };
  EXPECT_EQ(top(thin), top(whole));
  const auto low = [](double fpr) { return fpr > 0 && fpr < 0.01; };
  EXPECT_GE(std::count_if(thin.fpr.begin(), thin.fpr.end(), low), 8);
}

TEST(Scoring, ShortCurveIsNotThinned) {
  const auto curve = roc(Scores{3, 2, 1}, Bits{1, 0, 1});
  EXPECT_EQ(thinned(curve, 4).threshold, curve.threshold);
  EXPECT_EQ(thinned(curve, 2).tpr, (Scores{0, 1}));
}

// The standard error of a coverage of 95 % is 0.28 % here: DeLong's (which covers in 95.2 %) and
// Newcombe's (94.9 %) are more than 3 of them from the limits.
TEST(Scoring, IntervalsCoverChanceWhenScoresSayNothing) {
  constexpr int kRepetitions = 6000;
  const auto member = first_members(100, 200);
  int auc_covered = 0, advantage_covered = 0;
  for (uint64_t seed = 0; seed < kRepetitions; ++seed) {
    std::mt19937_64 generator(seed);
    Scores scores;
    Bits decisions;
    for (size_t i = 0; i < member.size(); ++i) {
      scores.push_back(uniform(generator));
      decisions.push_back(scores.back() >= 0.4);
    }
    const auto result = score(scores, decisions, member);
    auc_covered += result.auc_interval.low <= 0.5 && result.auc_interval.high >= 0.5;
    advantage_covered += result.advantage_interval.low <= 0 && result.advantage_interval.high >= 0;
  }
  EXPECT_GE(auc_covered, 0.94 * kRepetitions);
  EXPECT_LE(auc_covered, 0.965 * kRepetitions);
  EXPECT_GE(advantage_covered, 0.94 * kRepetitions);
}

TEST(Scoring, RefusesWhatCannotBeScored) {
  const double nan = std::nan("");
  EXPECT_EQ(message_of([&] {
              roc(Scores{1, nan}, Bits{1, 0});
            }),
            "score 1 is NaN: an attack must give every candidate a number, if need be an infinite "
            "one");
  EXPECT_EQ(message_of([] {
              best_threshold(Scores{1, 2}, Bits{1, 1});
            }),
            "an attack is measured on members and non-members, but the candidates are 2 members "
            "and 0 non-members");
  EXPECT_EQ(message_of([] { auc(Scores{}, Bits{}); }),
            "an attack is measured on members and non-members, but the candidates are 0 members "
            "and 0 non-members");
  EXPECT_EQ(message_of([] {
              score(Scores{1}, Bits{1, 0}, Bits{1, 0});
            }),
            "there are 1 scores for 2 candidates");
  EXPECT_EQ(message_of([] {
              score(Scores{1, 2}, Bits{1}, Bits{1, 0});
            }),
            "there are 1 decisions for 2 candidates");
  EXPECT_EQ(message_of([] { thinned(Roc{}, 1); }),
            "a curve keeps its two ends, so it cannot be thinned to 1 points");
}

TEST(Intervals, ClopperPearsonEqualsPublishedValues) {
  EXPECT_EQ(clopper_pearson(0, 10).low, 0);
  EXPECT_NEAR(clopper_pearson(0, 10).high, 0.3085, 5e-5);
  EXPECT_NEAR(clopper_pearson(5, 10).low, 0.1871, 5e-5);
  EXPECT_NEAR(clopper_pearson(5, 10).high, 0.8129, 5e-5);
  EXPECT_EQ(clopper_pearson(10, 10).high, 1);
  EXPECT_EQ(clopper_pearson(0, 0).low, 0);
  EXPECT_EQ(clopper_pearson(0, 0).high, 1);
}

TEST(Intervals, NewcombeEqualsHisTable) {  // Newcombe 1998, table II, method 10
  EXPECT_NEAR(newcombe(56, 70, 48, 80).low, 0.0524, 5e-5);
  EXPECT_NEAR(newcombe(56, 70, 48, 80).high, 0.3339, 5e-5);
  EXPECT_NEAR(newcombe(9, 10, 3, 10).low, 0.1705, 5e-5);
  EXPECT_NEAR(newcombe(9, 10, 3, 10).high, 0.8090, 5e-5);
  EXPECT_NEAR(newcombe(10, 10, 0, 10).low, 0.6075, 5e-5);
  EXPECT_EQ(newcombe(10, 10, 0, 10).high, 1);
}

TEST(Intervals, MeanIntervalIsStudents) {
  // Mean 2, deviation 1, t(0.975, 2) = 4.302653: 2 -+ 4.302653 / sqrt(3).
  EXPECT_NEAR(mean_interval(Scores{1, 2, 3}).low, 2 - 2.484138, 1e-6);
  EXPECT_NEAR(mean_interval(Scores{1, 2, 3}).high, 2 + 2.484138, 1e-6);
  EXPECT_EQ(mean_interval(Scores{1}).low, -kInfinity);
  EXPECT_EQ(mean_interval(Scores{}).high, kInfinity);
}

TEST(Intervals, AucIntervalIsSymmetricInTheLogit) {
  // log(0.8 / 0.2) -+ 1.959964 * 0.05 / (0.8 * 0.2) = 1.386294 -+ 0.612489.
  const auto interval = auc_interval(0.8, 0.0025, 100, 100);
  EXPECT_NEAR(interval.low, 1 / (1 + std::exp(-0.773805)), 1e-6);
  EXPECT_NEAR(interval.high, 1 / (1 + std::exp(-1.998783)), 1e-6);
}

TEST(Intervals, AucIntervalWithoutVarianceIsThatOfTheSmallerGroup) {
  EXPECT_NEAR(auc_interval(1, 0, 20, 500).low, std::pow(0.025, 1.0 / 20), 1e-9);
  EXPECT_EQ(auc_interval(1, 0, 20, 500).high, 1);
  EXPECT_EQ(auc_interval(0, 0, 20, 500).low, 0);
  EXPECT_NEAR(auc_interval(0.5, 0, 10, 30).low, 0.1871, 5e-5);  // 5 of 10, as above
  EXPECT_NEAR(auc_interval(1, kInfinity, 1, 500).low, 0.025, 1e-9);
}

TEST(Intervals, RefuseImpossibleCounts) {
  EXPECT_EQ(message_of([] { clopper_pearson(3, 2); }), "a proportion cannot have 3 hits of 2");
  EXPECT_EQ(message_of([] { newcombe(0, 0, 1, 5); }),
            "a difference of proportions needs records in both groups, not 0 and 5");
}

/// Members and non-members half and half, attacks with given numbers of calls in either group.
class Cell {
 public:
  Cell(size_t members, size_t correct)
      : member_(first_members(members, 2 * members)), correct_(first_members(correct, members)) {
    decisions_.reserve(64);  // `attacks_` views into it
  }

  void attack(const std::string& name, Bits decisions) {
    decisions_.push_back(std::move(decisions));
    attacks_.push_back({name, decisions_.back()});
  }
  void attack(const std::string& name, int hits, int false_alarms) {
    attack(name, calls(member_, hits, false_alarms));
  }
  CellP1 p1(bool paired = false, uint64_t seed = 7) const {
    return p1_cell(attacks_, member_, correct_, paired, seed);
  }

 private:
  Bits member_, correct_;
  std::vector<Bits> decisions_;
  std::vector<NamedDecisions> attacks_;
};

double width(const Interval& interval) { return interval.high - interval.low; }

TEST(P1, IsTheHarmonicMeanOfAccuracyAndPrivacy) {
  EXPECT_DOUBLE_EQ(p1(0.8, 0.4), 2 * 0.8 * 0.6 / 1.4);
  EXPECT_DOUBLE_EQ(p1(1, 0), 1);
  EXPECT_EQ(p1(0, 1), 0);
}

TEST(P1, TakesAnAttackWorseThanGuessingAsNoAdvantage) { EXPECT_EQ(p1(0.8, -0.3), p1(0.8, 0)); }

TEST(P1, OfACellIsThatOfItsStrongestAttack) {
  Cell cell(100, 80);
  cell.attack("weak", 50, 40);
  cell.attack("strong", 70, 30);
  cell.attack("backwards", 10, 90);
  const auto result = cell.p1();
  EXPECT_EQ(result.attack, "strong");
  EXPECT_DOUBLE_EQ(result.value, p1(0.8, 0.4));
  EXPECT_LT(result.interval.low, result.value);
  EXPECT_GT(result.interval.high, result.value);
}

TEST(P1, NamesTheFirstOfEquallyStrongAttacks) {
  // As doubles 0.3 - 0.1 is less than 0.4 - 0.2.
  Cell cell(10, 8);
  cell.attack("first", 3, 1);
  cell.attack("second", 4, 2);
  EXPECT_EQ(cell.p1().attack, "first");
}

TEST(P1, IntervalIsAsWideAsTheDeltaMethodSays) {
  // Accuracy a = 0.8 and privacy b = 1 - (0.7 - 0.3) = 0.6: the slopes of P1 are 2 b^2 / (a + b)^2
  // = 0.367347 and 2 a^2 / (a + b)^2 = 0.653061, the variances 0.16 / 1000 and 2 * 0.21 / 1000.
  // Twice 1.959964 sqrt(0.134944 * 0.00016 + 0.426489 * 0.00042) = 0.055535.
  Cell cell(1000, 800);
  cell.attack("loss", 700, 300);
  EXPECT_NEAR(width(cell.p1().interval), 0.0555, 0.004);
}

TEST(P1, PairedTestRecordsMoveWithTheNonMembers) {
  // An attack that calls exactly the correctly classified records members: more accuracy comes with
  // more false alarms, hence more privacy, so P1 varies more than if the two were independent.
  Cell cell(500, 300);
  cell.attack("correctness", 450, 300);
  EXPECT_EQ(cell.p1(true).value, cell.p1(false).value);
  EXPECT_GT(width(cell.p1(true).interval), 1.2 * width(cell.p1(false).interval));
}

TEST(P1, IntervalRepeatsTheChoiceOfTheStrongestAttack) {
  // The same seed draws the same records, so each resample's maximum over twenty attacks is at
  // least the advantage of the one that is strongest on the whole.
  Cell alone(200, 160), together(200, 160);
  alone.attack("strongest", 120, 80);
  together.attack("strongest", 120, 80);
  std::mt19937_64 generator(3);
  for (int i = 1; i < 20; ++i) {
    auto decisions = calls(first_members(200, 400), 118, 80);
    std::shuffle(decisions.begin(), decisions.begin() + 200, generator);
    std::shuffle(decisions.begin() + 200, decisions.end(), generator);
    together.attack("other", decisions);
  }
  EXPECT_EQ(together.p1().attack, "strongest");
  EXPECT_EQ(together.p1().value, alone.p1().value);
  EXPECT_LT(together.p1().interval.low, alone.p1().interval.low);
  EXPECT_LT(together.p1().interval.high, alone.p1().interval.high);
  EXPECT_GE(together.p1().interval.high, together.p1().value);
}

TEST(P1, CountsAnAttackOnlyWhereItAttacked) {
  // Attack b saw two members and two others and is right about all four: advantage 1.
  const std::vector<uint8_t> member{1, 1, 1, 1, 0, 0, 0, 0}, correct{1, 1, 1, 1};
  const std::vector<uint8_t> a{1, 1, 1, 0, 0, 0, 0, 1}, b{1, 1, 0, 0, 0, 0, 0, 0};
  const std::vector<uint8_t> seen{1, 1, 0, 0, 1, 1, 0, 0};
  const std::vector<NamedDecisions> attacks{{"a", a, {}}, {"b", b, seen}};
  const auto result = p1_cell(attacks, member, correct, false, 1);
  EXPECT_EQ(result.attack, "b");
  EXPECT_EQ(result.value, 0);
  EXPECT_GE(result.interval.high, 0);
}

// The bootstrap covers in 94.75 % here (30000 simulations in NumPy). Of 2000 runs, at a thousand
// resamples each, the standard error is 0.5 %: 93.5 % is 2.5 of them away, 96.5 % is 3.5. To ask
// for 94 % as safely would take 5500 runs.
TEST(P1, IntervalCoversTheTruthAsOftenAsItSays) {
  std::mt19937_64 random(5);
  const auto draw = [&](double chance, size_t n) {
    std::vector<uint8_t> bits(n);
    for (auto& bit : bits) bit = std::bernoulli_distribution(chance)(random) ? 1 : 0;
    return bits;
  };
  std::vector<uint8_t> member(400, 0);
  std::fill_n(member.begin(), 200, uint8_t{1});
  int covered = 0;
  for (uint64_t run = 0; run < 2000; ++run) {
    auto decisions = draw(0.6, 200);
    const auto others = draw(0.4, 200);
    decisions.insert(decisions.end(), others.begin(), others.end());
    const std::vector<NamedDecisions> attacks{{"a", decisions, {}}};
    const auto interval = p1_cell(attacks, member, draw(0.8, 300), false, run).interval;
    covered += interval.low <= p1(0.8, 0.2) && p1(0.8, 0.2) <= interval.high ? 1 : 0;
  }
  EXPECT_GE(covered, 2000 * 0.935);
  EXPECT_LE(covered, 2000 * 0.965);
}

TEST(P1, IsTheSameBitsForTheSameSeed) {
  Cell cell(150, 100);
  cell.attack("loss", 90, 70);
  cell.attack("entropy", 80, 61);
  EXPECT_EQ(cell.p1(true, 5).interval.low, cell.p1(true, 5).interval.low);
  EXPECT_EQ(cell.p1(true, 5).interval.high, cell.p1(true, 5).interval.high);
  EXPECT_NE(cell.p1(true, 5).interval.low, cell.p1(true, 6).interval.low);
}

TEST(P1, RefusesCellsItCannotMeasure) {
  const Bits two = {1, 0}, one = {1};
  const std::vector<NamedDecisions> loss = {{"loss", two}}, cut = {{"loss", one}};
  EXPECT_EQ(message_of([&] { p1_cell({}, two, one, false, 1); }), "P1 needs at least one attack");
  EXPECT_EQ(message_of([&] { p1_cell(cut, two, one, false, 1); }),
            "attack loss has 1 decisions for 2 candidates");
  EXPECT_EQ(message_of([&] {
              p1_cell(loss, Bits{0, 0}, one, false, 1);
            }),
            "P1 needs members and non-members, but the candidates are 0 members and 2 non-members");
  EXPECT_EQ(message_of([&] { p1_cell(loss, two, Bits{}, false, 1); }),
            "P1 needs test records to measure accuracy on, but there are none");
  EXPECT_EQ(message_of([&] { p1_cell(loss, two, two, true, 1); }),
            "paired test records are the non-members, but there are 2 test records and 1 "
            "non-members");
}

}  // namespace
}  // namespace imprint::scoring_test
