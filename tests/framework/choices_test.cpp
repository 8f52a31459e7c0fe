#include "framework/reports/choices.h"

#include <gtest/gtest.h>

#include "framework/reports/html.h"
#include "framework/reports/selector.h"

namespace imprint::choices_test {
namespace {

CellResult cell(const std::string& defense, const std::string& alpha, int64_t seed, double accuracy,
                double advantage) {
  CellResult result;
  result.id = defense + alpha + std::to_string(seed);
  result.data = "d";
  result.model = "m";
  result.defense = result.label = defense;
  if (!alpha.empty()) result.swept = {{defense + ".alpha", alpha}};
  result.seed = seed;
  result.test_accuracy = 0.5;
  result.metrics = {{"tune.accuracy", accuracy, {}, {}, 10},
                    {"tune.advantage", advantage, {}, {}, 10},
                    {"tune.p1_cell", p1(accuracy, advantage), {}, {}, 10}};
  return result;
}

std::vector<CellResult> cells() {
  return {cell("none", "", 0, 0.70, 0.6),   cell("none", "", 1, 0.70, 0.6),
          cell("ccl", "0.1", 0, 0.60, 0.1), cell("ccl", "0.1", 1, 0.60, 0.1),
          cell("ccl", "0.5", 0, 0.69, 0.3), cell("ccl", "0.5", 1, 0.73, 0.3),
          cell("ccl", "0.9", 0, 0.75, 0.5), cell("ccl", "0.9", 1, 0.75, 0.5)};
}

Results chosen_of(const std::optional<TuneChoice>& how, std::vector<CellResult> among = cells()) {
  Results results;
  results.cells = std::move(among);
  choose(how, results);
  return results;
}

std::string chosen_setting(const TuneChoice& how) {
  const auto results = chosen_of(how);
  EXPECT_EQ(results.chosen.size(), 1U);  // the undefended model has no choice
  EXPECT_TRUE(results.cells[0].chosen);
  EXPECT_TRUE(results.notes.empty());
  return results.chosen.empty() ? "" : results.chosen[0].setting;
}

TEST(Choices, TakeTheBestMeanOverSeedsOnTheTunePiece) {
  // P1 of 0.1: 2 * 0.6 * 0.9 / 1.5 = 0.72; of 0.5: 0.704; of 0.9: 0.6.
  EXPECT_EQ(chosen_setting({.by = "p1_cell"}), "ccl (alpha=0.1)");
  EXPECT_EQ(chosen_setting({.by = "accuracy"}), "ccl (alpha=0.9)");
  EXPECT_EQ(chosen_setting({.by = "advantage"}), "ccl (alpha=0.1)");
}

TEST(Choices, CanKeepTheUndefendedAccuracy) {
  EXPECT_EQ(chosen_setting({.by = "advantage", .keep_accuracy = true}), "ccl (alpha=0.5)");
}

TEST(Choices, SayWhichLabelKeepsTheUndefendedAccuracyWithNoSetting) {
  auto among = cells();
  among.push_back(cell("dropout", "", 0, 0.6, 0.2));  // a single setting is held to it, too
  for (auto& each : among)
    if (each.defense == "ccl") each.metrics[0].value = 0.69;
  const TuneChoice how{.by = "advantage", .keep_accuracy = true};
  const auto results = chosen_of(how, among);
  EXPECT_TRUE(results.chosen.empty());
  for (const auto& each : results.cells) EXPECT_EQ(each.chosen, each.defense == "none");
  EXPECT_EQ(
      results.notes,
      (std::vector<std::string>{
          "d with m: no setting of ccl keeps the undefended accuracy on the tune piece.",
          "d with m: no setting of dropout keeps the undefended accuracy on the tune piece."}));
  EXPECT_TRUE(chosen_of(TuneChoice{.by = "advantage"}, among).cells.back().chosen);
}

TEST(Choices, HoldDefensesToTheMostAccurateUndefendedSetting) {
  // Another undefended label, less accurate: the bar stays 0.70, above the 0.69 of one setting.
  auto among = cells();
  for (const int64_t seed : {0, 1}) {
    among.push_back(cell("none", "", seed, 0.40, 0.7));
    among.back().label = "short";
    among[static_cast<size_t>(4 + seed)].metrics[0].value = 0.69;
  }
  const TuneChoice how{.by = "advantage", .keep_accuracy = true};
  const auto results = chosen_of(how, among);
  ASSERT_EQ(results.chosen.size(), 1U);
  EXPECT_EQ(results.chosen[0].setting, "ccl (alpha=0.9)");
  EXPECT_TRUE(results.cells.back().chosen);  // undefended: held to nothing
}

TEST(Choices, MarkTheCellsForSelectorsAndTheReport) {
  const auto results = chosen_of(TuneChoice{});
  const Selector chosen{{{"defense", "ccl"}, {"chosen", "true"}}};
  EXPECT_TRUE(chosen.matches(results.cells[2]));
  EXPECT_FALSE(chosen.matches(results.cells[4]));
  const auto html = choices_html(results);
  EXPECT_NE(html.find("<td>ccl (alpha=0.1)</td><td>3</td><td>tune.p1_cell</td><td>0.720</td>"),
            std::string::npos)
      << html;
}

TEST(Choices, AreNoneWithoutATunePiece) {
  auto among = cells();
  EXPECT_TRUE(chosen_of(std::nullopt, among).chosen.empty());
  for (auto& each : among) each.metrics.clear();
  const auto results = chosen_of(TuneChoice{}, among);
  EXPECT_TRUE(results.chosen.empty());
  EXPECT_TRUE(results.notes.empty());
  EXPECT_EQ(choices_html({}), "");
}

}  // namespace
}  // namespace imprint::choices_test
