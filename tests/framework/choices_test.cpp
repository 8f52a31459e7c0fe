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

std::string chosen_setting(const TuneChoice& how) {
  auto all = cells();
  const auto chosen = choose(how, all);
  EXPECT_EQ(chosen.size(), 1U);  // the undefended model has no choice
  EXPECT_TRUE(all[0].chosen);
  return chosen.empty() ? "" : chosen[0].setting;
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

TEST(Choices, MarkTheCellsForSelectorsAndTheReport) {
  Results results;
  results.cells = cells();
  results.chosen = choose(TuneChoice{}, results.cells);
  const Selector chosen{{{"defense", "ccl"}, {"chosen", "true"}}};
  EXPECT_TRUE(chosen.matches(results.cells[2]));
  EXPECT_FALSE(chosen.matches(results.cells[4]));
  const auto html = choices_html(results);
  EXPECT_NE(html.find("<td>ccl (alpha=0.1)</td><td>3</td><td>tune.p1_cell</td><td>0.720</td>"),
            std::string::npos)
      << html;
}

TEST(Choices, AreNoneWithoutATunePiece) {
  auto all = cells();
  EXPECT_TRUE(choose(std::nullopt, all).empty());
  for (auto& each : all) each.metrics.clear();
  EXPECT_TRUE(choose(TuneChoice{}, all).empty());
  EXPECT_EQ(choices_html({}), "");
}

}  // namespace
}  // namespace imprint::choices_test
