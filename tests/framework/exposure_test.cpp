#include "framework/reports/exposure.h"

#include <gtest/gtest.h>

#include "framework/reports/html.h"

namespace imprint::exposure_test {
namespace {

AttackResult found(const std::string& attack, std::vector<int64_t> records, double advantage = 0) {
  AttackResult result;
  result.attack = attack;
  result.flagged = std::move(records);
  result.score.advantage = advantage;
  return result;
}

CellResult run_of(int64_t seed, std::vector<int64_t> members, std::vector<AttackResult> attacks) {
  CellResult cell;
  cell.id = "cell" + std::to_string(seed);
  cell.data = "d";
  cell.model = "m";
  cell.defense = cell.label = "none";
  cell.seed = seed;
  cell.member_records = std::move(members);
  cell.attacks = std::move(attacks);
  return cell;
}

TEST(Exposure, OfTwoAttacksAndTwoRunsIsTheHandValue) {
  Results results;
  // Members 1..4 and 3..6; 3 and 4 are members of both.
  results.cells = {run_of(0, {1, 2, 3, 4}, {found("loss", {1, 3}), found("lira", {1, 2, 3})}),
                   run_of(1, {3, 4, 5, 6}, {found("loss", {3, 4}), found("lira", {4})})};
  const auto all = exposures(results);
  ASSERT_EQ(all.size(), 1U);
  const auto& exposure = all[0];
  EXPECT_EQ(exposure.runs, 2);
  EXPECT_EQ(exposure.attacks, (std::vector<std::string>{"loss", "lira"}));
  EXPECT_DOUBLE_EQ(exposure.share[0], (2.0 / 4 + 2.0 / 4) / 2);
  EXPECT_DOUBLE_EQ(exposure.share[1], (3.0 / 4 + 1.0 / 4) / 2);
  EXPECT_DOUBLE_EQ(exposure.jaccard[0][1], (2.0 / 3 + 1.0 / 2) / 2);
  EXPECT_DOUBLE_EQ(exposure.jaccard[0][0], 1);
  EXPECT_DOUBLE_EQ(exposure.coverage, (3.0 / 4 + 2.0 / 4) / 2);
  EXPECT_DOUBLE_EQ(exposure.unanimous, (2.0 / 3 + 1.0 / 2) / 2);
  // Among 3 and 4: loss finds {3} and {3, 4}, lira {3} and {4}.
  EXPECT_DOUBLE_EQ(exposure.stability[0], 0.5);
  EXPECT_DOUBLE_EQ(exposure.stability[1], 0);
  // 1 is found by both attacks in its one run; 3 in three of four.
  ASSERT_EQ(exposure.most.size(), 4U);
  EXPECT_EQ(exposure.most[0].record, 1);
  EXPECT_EQ(exposure.most[0].found, 2);
  EXPECT_EQ(exposure.most[0].chances, 2);
  EXPECT_EQ(exposure.most[1].record, 3);
  EXPECT_EQ(exposure.most[1].found, 3);
  EXPECT_EQ(exposure.most[1].chances, 4);
}

TEST(Exposure, NeedsSomethingToCompareAndSomebodyFound) {
  Results results;
  results.cells = {run_of(0, {1, 2}, {found("loss", {1})})};
  EXPECT_TRUE(exposures(results).empty());
  // One attack in two runs can agree with itself.
  results.cells.push_back(run_of(1, {1, 2}, {found("loss", {1, 2})}));
  ASSERT_EQ(exposures(results).size(), 1U);
  EXPECT_DOUBLE_EQ(exposures(results).front().stability.front(), 0.5);
  results.cells = {run_of(0, {1, 2}, {found("loss", {}), found("lira", {})})};
  EXPECT_TRUE(exposures(results).empty());
  EXPECT_EQ(exposures_html(results), "");
}

TEST(Exposure, ShowsTheRecordsWithTheirPictures) {
  Results results;
  results.cells = {run_of(0, {1, 2}, {found("loss", {1}), found("<b>", {1})})};
  results.exposures = exposures(results);
  results.exposures.front().most.front().picture = "data:image/png;base64,AAAA";
  const auto html = exposures_html(results);
  EXPECT_NE(html.find("src=\"data:image/png;base64,AAAA\""), std::string::npos);
  EXPECT_NE(html.find("found 2 of 2 times"), std::string::npos);
  EXPECT_EQ(html.find("<b>"), std::string::npos);
}

TEST(Adaptivity, ComparesAttackersWithAndWithoutTheDefenseSeedBySeed) {
  const auto cell = [](int64_t seed, const std::string& shadows, double advantage) {
    auto result = run_of(seed, {}, {found("loss", {}, advantage)});
    result.defense = result.label = "ccl";
    result.swept = {{"ccl.alpha", "0.5"}, {"shadows.defense", shadows}};
    return result;
  };
  Results results;
  results.cells = {cell(0, "same", 0.4), cell(1, "same", 0.5), cell(0, "none", 0.1),
                   cell(1, "none", 0.3)};
  const auto all = adaptivity(results);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].setting, "ccl (alpha=0.5)");
  EXPECT_DOUBLE_EQ(all[0].adaptive, 0.45);
  EXPECT_DOUBLE_EQ(all[0].other, 0.2);
  EXPECT_DOUBLE_EQ(all[0].difference, 0.25);
  ASSERT_TRUE(all[0].low.has_value());
  // Differences 0.3 and 0.2: half width 12.706 * 0.0707 / sqrt(2).
  EXPECT_NEAR(*all[0].low, 0.25 - 12.706 * 0.05, 1e-3);
  EXPECT_NE(adaptivity_html(results).find("Attackers who know the defense"), std::string::npos);
  results.cells.pop_back();
  results.cells.pop_back();
  EXPECT_TRUE(adaptivity(results).empty());
}

}  // namespace
}  // namespace imprint::exposure_test
