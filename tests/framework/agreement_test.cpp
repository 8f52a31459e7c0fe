#include "framework/privacy/agreement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "framework/privacy/scoring.h"

namespace imprint::agreement_test {
namespace {

using Bits = std::vector<uint8_t>;
using Scores = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(Flagged, TakesAllMembersDownToTheRateThatIsStillAllowed) {
  // Non-members 4, 2, 1, 0: up to 0, 1, 2, 3 and 4 false alarms at rates of 0, 1/4, ... 1.
  const Scores scores = {5, 4, 3, 2, 1, 0, 0.5};
  const Bits member = {1, 0, 1, 0, 0, 0, 1};
  EXPECT_EQ(flagged(scores, member, 0), (Bits{1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(flagged(scores, member, 0.24), (Bits{1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(flagged(scores, member, 0.25), (Bits{1, 0, 1, 0, 0, 0, 0}));
  EXPECT_EQ(flagged(scores, member, 0.74), (Bits{1, 0, 1, 0, 0, 0, 0}));
  EXPECT_EQ(flagged(scores, member, 0.75), (Bits{1, 0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(flagged(scores, member, 1), member);
}

TEST(Flagged, StopsBeforeATieThatWouldPassTheRate) {
  // The score 1 is shared by two members and one of two non-members.
  const Scores scores = {2, 1, 1, 1, 0};
  const Bits member = {1, 1, 1, 0, 0};
  EXPECT_EQ(flagged(scores, member, 0.4), (Bits{1, 0, 0, 0, 0}));
  EXPECT_EQ(flagged(scores, member, 0.5), (Bits{1, 1, 1, 0, 0}));
}

TEST(Flagged, IsNobodyWhenTheHighestScoreIsShared) {
  EXPECT_EQ(flagged(Scores{kInfinity, kInfinity, 0}, Bits{1, 0, 0}, 0), (Bits{0, 0, 0}));
  EXPECT_EQ(flagged(Scores{kInfinity, 1, 0}, Bits{1, 0, 0}, 0), (Bits{1, 0, 0}));
}

TEST(Flagged, HoldsAsManyMembersAsTheScoreCounts) {
  std::mt19937_64 generator(1);
  Scores scores;
  Bits member;
  for (int i = 0; i < 3000; ++i) {
    member.push_back(i % 3 == 0);
    scores.push_back(static_cast<double>(generator() % 500 + (i % 3 == 0 ? 60 : 0)));
  }
  for (const auto& at : score(scores, Bits(3000, 0), member).tpr_at) {
    const auto flags = flagged(scores, member, at.fpr);
    EXPECT_EQ(std::count(flags.begin(), flags.end(), 1), at.hits);
  }
}

TEST(Flagged, RefusesARateThatIsNone) {
  EXPECT_EQ(message_of([] {
              flagged(Scores{1, 0}, Bits{1, 0}, 1.5);
            }),
            "members are flagged at a false positive rate between 0 and 1, not 1.500000");
  EXPECT_EQ(message_of([] {
              flagged(Scores{1, 0}, Bits{1, 1}, 0.1);
            }),
            "an attack is measured on members and non-members, but the candidates are 2 members "
            "and 0 non-members");
}

TEST(Overlap, IsSharedOverAll) {
  const auto found = overlap(Bits{1, 1, 1, 0, 0}, Bits{0, 1, 1, 1, 0});
  EXPECT_EQ(found.both, 2);
  EXPECT_EQ(found.either, 4);
  EXPECT_DOUBLE_EQ(found.jaccard(), 0.5);
}

TEST(Overlap, OfEqualFlagsIsOneAndOfNoFlagsZero) {
  EXPECT_EQ(overlap(Bits{1, 0}, Bits{1, 0}).jaccard(), 1);
  EXPECT_EQ(overlap(Bits{1, 0}, Bits{0, 1}).jaccard(), 0);
  EXPECT_EQ(overlap(Bits{0, 0}, Bits{0, 0}).jaccard(), 0);
  EXPECT_EQ(overlap(Bits{}, Bits{}).jaccard(), 0);
}

TEST(Overlap, RefusesFlagsOfDifferentRecords) {
  EXPECT_EQ(message_of([] { overlap(Bits{1, 0}, Bits{1}); }), "there are 1 flags for 2 records");
}

TEST(Agreement, CountsMembersFlaggedByAnyAndByAll) {
  // Five members, the last record is none. Flagged by any: 0, 1, 2, 4; by all: 1 and 4.
  const std::vector<Bits> flags = {{1, 1, 0, 0, 1, 0}, {0, 1, 1, 0, 1, 0}, {0, 1, 0, 0, 1, 0}};
  const auto found = agreement(flags, Bits{1, 1, 1, 1, 1, 0});
  EXPECT_EQ(found.members, 5);
  EXPECT_EQ(found.by_any, 4);
  EXPECT_EQ(found.by_all, (std::vector<int64_t>{1, 4}));
  EXPECT_DOUBLE_EQ(found.coverage(), 0.8);
  EXPECT_DOUBLE_EQ(found.stability(), 0.5);
}

TEST(Agreement, OfTwoIsTheirJaccardOverlap) {
  const std::vector<Bits> flags = {{1, 1, 1, 0, 0}, {0, 1, 1, 1, 0}};
  EXPECT_DOUBLE_EQ(agreement(flags, Bits(5, 1)).stability(), overlap(flags[0], flags[1]).jaccard());
}

TEST(Agreement, LeavesOutNonMembersAndIsZeroWithoutFlags) {
  const std::vector<Bits> flags = {{0, 1}};
  EXPECT_EQ(agreement(flags, Bits{1, 0}).by_any, 0);
  EXPECT_EQ(agreement(flags, Bits{1, 0}).coverage(), 0);
  EXPECT_EQ(agreement(flags, Bits{1, 0}).stability(), 0);
  EXPECT_EQ(agreement(flags, Bits{0, 0}).coverage(), 0);
}

TEST(Agreement, RefusesNoFlagsAndFlagsOfOtherRecords) {
  EXPECT_EQ(message_of([] { agreement({}, Bits{1}); }),
            "agreement needs at least one set of flags");
  EXPECT_EQ(message_of([] {
              agreement(std::vector<Bits>{{1, 0}, {1}}, Bits{1, 1});
            }),
            "there are 1 flags for 2 records");
}

TEST(AgreementAcrossRuns, CountsOnlyRunsInWhichARecordWasAMember) {
  const std::vector<RunFlags> runs = {{{1, 1, 0, 0}, {1, 1, 1, 0}},
                                      {{1, 0, 1, 0}, {1, 1, 1, 0}},
                                      {{1, 1, 0, 0}, {1, 0, 0, 1}}};  // 1 is flagged, but no member
  const auto found = agreement_across_runs(runs);
  EXPECT_EQ(found.member_in, (std::vector<int64_t>{3, 2, 2, 1}));
  EXPECT_EQ(found.flagged_in, (std::vector<int64_t>{3, 1, 1, 0}));
  // Runs 0 and 1 share members 0, 1, 2: 1 of 3. Runs 0 and 2, and 1 and 2, share 0 only: 1 of 1.
  EXPECT_DOUBLE_EQ(found.stability, (1.0 / 3 + 1 + 1) / 3);
}

TEST(AgreementAcrossRuns, LeavesOutPairsThatShareNoMember) {
  // Runs 0 and 1 are complementary; each shares one member with run 2, of which the first is
  // flagged in both runs and the second in one.
  const std::vector<RunFlags> runs = {
      {{1, 1, 0, 0}, {1, 1, 0, 0}}, {{0, 0, 1, 1}, {0, 0, 1, 1}}, {{0, 1, 0, 0}, {0, 1, 1, 0}}};
  EXPECT_DOUBLE_EQ(agreement_across_runs(runs).stability, 0.5);
  EXPECT_EQ(agreement_across_runs(std::span(runs).first(2)).stability, 0);
}

TEST(AgreementAcrossRuns, TakesAPairThatFlagsNobodyAsZero) {
  const std::vector<RunFlags> runs = {
      {{1, 0}, {1, 1}}, {{1, 0}, {1, 1}}, {{0, 0}, {0, 1}}};  // 1, 0 and 0
  EXPECT_DOUBLE_EQ(agreement_across_runs(runs).stability, 1.0 / 3);
}

TEST(AgreementAcrossRuns, HasNoStabilityWithoutAPair) {
  const std::vector<RunFlags> one = {{{1, 0}, {1, 0}}};
  EXPECT_EQ(agreement_across_runs(one).stability, 0);
  EXPECT_EQ(agreement_across_runs(one).flagged_in, (std::vector<int64_t>{1, 0}));
  EXPECT_TRUE(agreement_across_runs({}).member_in.empty());
}

TEST(AgreementAcrossRuns, EqualsTheOverlapWhenMembersAreTheSame) {
  const Bits all(4, 1), one = {1, 1, 0, 0}, other = {0, 1, 1, 0};
  const std::vector<RunFlags> runs = {{one, all}, {other, all}};
  EXPECT_DOUBLE_EQ(agreement_across_runs(runs).stability, overlap(one, other).jaccard());
}

TEST(AgreementAcrossRuns, RefusesRunsOverDifferentRecords) {
  const std::vector<RunFlags> flags = {{{1, 0}, {1, 1}}, {{1}, {1, 1}}};
  const std::vector<RunFlags> bits = {{{1, 0}, {1, 1, 1}}};
  EXPECT_EQ(message_of([&] { agreement_across_runs(flags); }), "there are 1 flags for 2 records");
  EXPECT_EQ(message_of([&] { agreement_across_runs(bits); }),
            "there are 3 membership bits for 2 records");
}

}  // namespace
}  // namespace imprint::agreement_test
