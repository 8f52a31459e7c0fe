#include "framework/privacy/audit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "framework/privacy/intervals.h"

namespace imprint::audit_test {
namespace {

using Bits = std::vector<uint8_t>;
using Scores = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kRepetitions = 2000;

double uniform(std::mt19937_64& generator) {
  return static_cast<double>(generator() >> 11) * 0x1p-53;
}

struct Candidates {
  Scores scores;
  Bits member;
};

/// `members` of one score and `non_members` of another.
Candidates apart(size_t members, double score, size_t non_members, double other) {
  Candidates all{Scores(members, score), Bits(members, 1)};
  all.scores.resize(members + non_members, other);
  all.member.resize(members + non_members, 0);
  return all;
}

/// Members and non-members whose scores say nothing; every other time they are heavily tied.
Candidates without_leakage(uint64_t seed, size_t members, size_t non_members) {
  std::mt19937_64 generator(seed);
  auto all = apart(members, 0, non_members, 0);
  for (auto& score : all.scores) {
    score = uniform(generator);
    if (seed % 2 == 1) score = std::floor(5 * score);
  }
  return all;
}

/// Each canary is in by a fair coin.
Candidates tossed(uint64_t seed, size_t canaries) {
  auto all = without_leakage(seed, canaries, 0);
  std::mt19937_64 generator(seed + 1'000'000);
  for (auto& bit : all.member) bit = uniform(generator) < 0.5 ? 1 : 0;
  return all;
}

/// The score is the membership bit, told truly with probability e^epsilon / (1 + e^epsilon).
Candidates randomized_response(uint64_t seed, size_t canaries, double epsilon) {
  auto all = tossed(seed, canaries);
  std::mt19937_64 generator(seed);
  for (size_t i = 0; i < canaries; ++i) {
    const bool truth = uniform(generator) < 1 / (1 + std::exp(-epsilon));
    all.scores[i] = truth == (all.member[i] != 0) ? 1 : 0;
  }
  return all;
}

double epsilon_low_of(const Candidates& all, double delta = 0, uint64_t seed = 7) {
  return epsilon_low(all.scores, all.member, delta, seed);
}

OneRun one_run_of(const Candidates& all, double delta = 0) {
  return one_run_audit(all.scores, all.member, delta);
}

/// The formula of the header, term by term.
double slow_p_value(int64_t m, int64_t r, int64_t v, double epsilon, double delta) {
  const boost::math::binomial w(static_cast<double>(r), 1 / (1 + std::exp(-epsilon)));
  double tail = 0, excess = 0;
  for (int64_t k = v; k <= r; ++k) tail += boost::math::pdf(w, static_cast<double>(k));
  for (int64_t i = 1; i <= m; ++i) {
    double sum = 0;
    for (int64_t k = std::max<int64_t>(0, v - i); k < v; ++k) {
      sum += boost::math::pdf(w, static_cast<double>(k));
    }
    excess = std::max(excess, sum / static_cast<double>(i));
  }
  return std::min(1.0, tail + 2 * static_cast<double>(m) * delta * excess);
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(EpsilonLow, OfAPerfectAttackEqualsTheHandValue) {
  // Halves of 50 and 100: the limits of 50 of 50 and of 0 of 100 are 0.025^(1/50) = 0.928878 and
  // 1 - 0.025^(1/100) = 0.036217.
  const auto perfect = apart(100, 1, 200, 0);
  EXPECT_NEAR(epsilon_low_of(perfect), std::log(0.928878 / 0.036217), 2e-5);
  EXPECT_NEAR(epsilon_low_of(perfect, 0.1), std::log((0.928878 - 0.1) / 0.036217), 2e-5);
  EXPECT_EQ(epsilon_low_of(apart(100, kInfinity, 200, -kInfinity)), epsilon_low_of(perfect));
  // With the larger group the members, the low end says as much as the high end did.
  EXPECT_DOUBLE_EQ(epsilon_low_of(apart(200, 1, 100, 0)), epsilon_low_of(perfect));
}

TEST(EpsilonLow, BoundsOnTheHalfThatKeepsTheOddRecord) {
  const double odd = std::log(clopper_pearson(50, 50).low / clopper_pearson(0, 101).high);
  EXPECT_DOUBLE_EQ(epsilon_low_of(apart(99, 1, 201, 0)), odd);
}

TEST(EpsilonLow, UsesWhicheverEndOfTheScoresTellsMore) {
  // A fifth of one group stands out, and nobody else: log(0.2 / 0) there, and log(1 / 0.8) at the
  // other end.
  auto high = apart(1000, 0, 1000, 0), low = high;
  std::fill_n(high.scores.begin(), 200, 1);
  std::fill_n(low.scores.end() - 200, 200, -1);
  EXPECT_GT(epsilon_low_of(high), 2.5);
  EXPECT_GT(epsilon_low_of(low), 2.5);
}

TEST(EpsilonLow, IsPositiveInAtMostOneOfTwentyRunsWithoutLeakage) {
  const std::vector<std::pair<size_t, size_t>> sizes = {{10, 10}, {40, 400}, {200, 200}, {700, 90}};
  int positive = 0;
  for (uint64_t seed = 0; seed < kRepetitions; ++seed) {
    const auto [members, non_members] = sizes[seed / 2 % sizes.size()];
    positive += epsilon_low_of(without_leakage(seed, members, non_members), 0, seed) > 0 ? 1 : 0;
  }
  EXPECT_LE(positive, 0.05 * kRepetitions);
}

TEST(EpsilonLow, StaysBelowAKnownEpsilonAndComesNearIt) {
  constexpr int kRuns = 400;
  double sum = 0;
  int below = 0;
  for (uint64_t seed = 0; seed < kRuns; ++seed) {
    const double bound = epsilon_low_of(randomized_response(seed, 2000, 2), 0, seed);
    sum += bound;
    below += bound <= 2 ? 1 : 0;
  }
  EXPECT_GE(below, 0.95 * kRuns);
  EXPECT_GT(sum / kRuns, 1.5);
}

TEST(EpsilonLow, IsTheSameBitsForTheSameSeed) {
  const auto all = randomized_response(3, 500, 1);
  EXPECT_EQ(epsilon_low_of(all, 0, 5), epsilon_low_of(all, 0, 5));
  EXPECT_NE(epsilon_low_of(all, 0, 5), epsilon_low_of(all, 0, 6));
}

TEST(EpsilonLow, IsZeroWhereNothingCanBeSaid) {
  EXPECT_EQ(epsilon_low_of(apart(1, 1, 500, 0)), 0);
  EXPECT_EQ(epsilon_low_of(apart(500, 1, 1, 0)), 0);
  EXPECT_EQ(epsilon_low_of(apart(2, 1, 2, 0)), 0);
  EXPECT_EQ(epsilon_low_of(apart(100, 0, 100, 0)), 0);
  EXPECT_EQ(epsilon_low_of(apart(100, 1, 100, 0), 1), 0);
}

TEST(OneRun, WithoutDeltaThePValueIsTheBinomialTail) {
  // All of 10 guesses correct: q^10. 9 or more of 10 at epsilon 0: (10 + 1) / 1024.
  for (const double epsilon : {0.0, 0.5, 2.0}) {
    const double q = std::exp(epsilon) / (1 + std::exp(epsilon));
    EXPECT_NEAR(one_run_p_value(10, 10, 10, epsilon, 0), std::pow(q, 10), 1e-14);
  }
  EXPECT_NEAR(one_run_p_value(10, 10, 9, 0, 0), 11.0 / 1024, 1e-15);
  EXPECT_EQ(one_run_p_value(10, 10, 0, 0, 0), 1);
}

TEST(OneRun, DeltaAddsTheLargestMeanOfTheProbabilitiesBelow) {
  // Two of two at epsilon 0: 1/4 + 2 * 2 delta max(1/2, 3/4 / 2).
  EXPECT_NEAR(one_run_p_value(2, 2, 2, 0, 0.01), 0.27, 1e-15);
  EXPECT_EQ(one_run_p_value(2, 2, 2, 0, 0.9), 1);
}

TEST(OneRun, PValueEqualsTheSumOfItsTerms) {
  for (const double epsilon : {0.0, 0.3, 1.0, 4.0}) {
    for (int64_t v = 0; v <= 30; ++v) {
      EXPECT_NEAR(one_run_p_value(50, 30, v, epsilon, 1e-3), slow_p_value(50, 30, v, epsilon, 1e-3),
                  1e-12);
    }
  }
}

TEST(OneRun, PValueEqualsThePublishedListing) {  // appendix D of the paper, run with SciPy 1.17
  EXPECT_NEAR(one_run_p_value(1000, 100, 80, 1, 1e-5), 0.07300911594917776, 1e-12);
  EXPECT_NEAR(one_run_p_value(1000, 1000, 700, 0.5, 1e-4), 0.0018660565715199328, 1e-12);
  EXPECT_NEAR(one_run_p_value(500, 60, 60, 2, 1e-3), 0.09238700425509824, 1e-12);
  EXPECT_NEAR(one_run_p_value(5000, 5000, 5000, 0, 1e-5), 3.8408986751741754e-05, 1e-14);
  EXPECT_NEAR(one_run_epsilon(1000, 100, 95, 1e-5), 2.165175799714052, 1e-9);
  EXPECT_NEAR(one_run_epsilon(1000, 1000, 700, 1e-5), 0.7317404494186924, 1e-9);
}

TEST(OneRun, EpsilonSolvesTheHandValue) {
  const double q = std::pow(0.05, 0.1);  // q^10 = 0.05
  EXPECT_NEAR(one_run_epsilon(10, 10, 10, 0), std::log(q / (1 - q)), 1e-10);
  EXPECT_NEAR(one_run_epsilon(10, 10, 10, 0), 1.051873, 1e-6);
}

TEST(OneRun, WithoutDeltaEpsilonIsTheLogitOfTheClopperPearsonLimit) {
  for (const int64_t v : {60, 80, 99, 100}) {
    const double q = clopper_pearson(v, 100, 0.9).low;  // one-sided 95 %
    EXPECT_NEAR(one_run_epsilon(200, 100, v, 0), std::max(0.0, std::log(q / (1 - q))), 1e-9);
  }
  EXPECT_EQ(one_run_epsilon(200, 100, 50, 0), 0);
}

TEST(OneRun, PValueRisesWithEpsilonDeltaAndCanariesAndFallsWithCorrectGuesses) {
  for (int64_t v = 1; v <= 60; ++v) {
    for (double epsilon = 0; epsilon < 6; epsilon += 0.25) {
      for (const double delta : {0.0, 1e-5, 1e-3}) {
        const double p = one_run_p_value(100, 60, v, epsilon, delta);
        EXPECT_GE(p, one_run_p_value(100, 60, v, epsilon, delta / 2));
        EXPECT_LE(p, one_run_p_value(200, 60, v, epsilon, delta));
        EXPECT_LE(p, one_run_p_value(100, 60, v, epsilon + 0.25, delta) + 1e-12);
        EXPECT_LE(p, one_run_p_value(100, 60, v - 1, epsilon, delta) + 1e-12);
      }
    }
  }
}

TEST(OneRun, EpsilonFallsWithDeltaAndConfidence) {
  EXPECT_LT(one_run_epsilon(500, 100, 95, 1e-4), one_run_epsilon(500, 100, 95, 1e-5));
  EXPECT_LT(one_run_epsilon(500, 100, 95, 0, 0.99), one_run_epsilon(500, 100, 95, 0, 0.95));
  EXPECT_EQ(one_run_epsilon(500, 100, 95, 1), 0);
}

TEST(OneRun, AuditPaysForItsChoiceOfTheNumberOfGuesses) {
  // A perfect attack on 64 canaries: all guesses are correct, and most is proved by all 64, at
  // 1 - 0.05 / 6.
  const auto found = one_run_of(apart(32, 1, 32, 0));
  EXPECT_EQ(found.canaries, 64);
  EXPECT_EQ(found.guesses, 64);
  EXPECT_EQ(found.correct, 64);
  const double q = std::pow(0.05 / 6, 1.0 / 64);
  EXPECT_NEAR(found.epsilon, std::log(q / (1 - q)), 1e-9);
}

TEST(OneRun, AuditGuessesFewWhereOnlyTheExtremesTell) {
  // Of 3,200 canaries the 100 highest are in, the 100 lowest out, and those between alternate.
  Candidates all;
  for (int i = 0; i < 3200; ++i) {
    all.scores.push_back(i);
    all.member.push_back(i < 100 ? 0 : i >= 3100 ? 1 : i % 2);
  }
  const auto found = one_run_of(all);
  EXPECT_EQ(found.guesses, 200);
  EXPECT_EQ(found.correct, 200);
}

TEST(OneRun, AuditLearnsNothingFromTheOrderOfEqualScores) {
  int positive = 0;
  for (size_t n = 1; n <= 500; ++n) positive += one_run_of(apart(n, 0, n, 0)).epsilon > 0 ? 1 : 0;
  EXPECT_LE(positive, 0.05 * 500);
  EXPECT_EQ(one_run_of(apart(500, 0, 500, 0)).guesses, 1000);
}

TEST(OneRun, AuditIsPositiveInAtMostOneOfTwentyRunsWithoutLeakage) {
  int coins = 0, halves = 0;
  for (uint64_t seed = 0; seed < kRepetitions; ++seed) {
    const size_t canaries = std::vector<size_t>{20, 100, 500}[seed / 2 % 3];
    coins += one_run_of(tossed(seed, canaries)).epsilon > 0 ? 1 : 0;
    halves += one_run_of(without_leakage(seed, canaries / 2, canaries / 2)).epsilon > 0 ? 1 : 0;
  }
  EXPECT_LE(coins, 0.05 * kRepetitions);
  EXPECT_LE(halves, 0.05 * kRepetitions);
}

TEST(OneRun, AuditStaysBelowAKnownEpsilonAndComesNearIt) {
  constexpr int kRuns = 400;
  double sum = 0;
  int below = 0;
  for (uint64_t seed = 0; seed < kRuns; ++seed) {
    const double bound = one_run_of(randomized_response(seed, 2000, 2), 1e-6).epsilon;
    sum += bound;
    below += bound <= 2 ? 1 : 0;
  }
  EXPECT_GE(below, 0.95 * kRuns);
  EXPECT_GT(sum / kRuns, 1.6);
}

TEST(OneRun, AuditOfHardlyAnyCanariesIsZero) {
  EXPECT_EQ(one_run_of({}).guesses, 0);
  EXPECT_EQ(one_run_of(apart(1, 1, 0, 0)).epsilon, 0);
  EXPECT_EQ(one_run_of(apart(1, 1, 1, 0)).epsilon, 0);
  EXPECT_EQ(one_run_of(apart(1, 1, 1, 0)).correct, 2);
}

TEST(Audit, RefusesWhatItCannotBound) {
  const auto pair = apart(1, 1, 1, 0);
  EXPECT_EQ(message_of([] {
              epsilon_low(Scores{1}, Bits{1, 0}, 0, 1);
            }),
            "there are 1 scores for 2 candidates");
  EXPECT_EQ(message_of([] {
              epsilon_low(Scores{1, std::nan("")}, Bits{1, 0}, 0, 1);
            }),
            "score 1 is NaN: an audit ranks the candidates by their scores");
  EXPECT_EQ(message_of([] {
              epsilon_low(Scores{1, 2}, Bits{1, 1}, 0, 1);
            }),
            "an audit needs members and non-members, but the candidates are 2 members and 0 "
            "non-members");
  EXPECT_EQ(message_of([&] { epsilon_low_of(pair, -0.5); }),
            "delta is a probability between 0 and 1, not -0.500000");
  EXPECT_EQ(message_of([&] { one_run_of(pair, std::nan("")); }),
            "delta is a probability between 0 and 1, not nan");
  EXPECT_EQ(message_of([] { one_run_p_value(5, 6, 2, 0, 0); }),
            "a one-run audit cannot have 2 correct of 6 guesses about 5 canaries");
  EXPECT_EQ(message_of([] { one_run_p_value(5, 5, 2, -1, 0); }),
            "epsilon is at least 0, not -1.000000");
  EXPECT_EQ(message_of([] { one_run_epsilon(5, 5, 5, 0, 1); }),
            "a confidence lies between 0 and 1, not at 1.000000");
  EXPECT_EQ(message_of([] { one_run_of(apart(100, 1, 500, 0)); }),
            "a one-run audit needs canaries that were put in or left out by a fair coin, but 100 "
            "of 600 are members");
}

}  // namespace
}  // namespace imprint::audit_test
