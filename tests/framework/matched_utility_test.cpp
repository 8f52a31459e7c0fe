#include "framework/reports/matched_utility.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "framework/privacy/dice.h"
#include "framework/reports/frontier.h"
#include "framework/reports/html.h"
#include "framework/reports/tables.h"

namespace imprint::matched_utility_test {
namespace {

AttackResult attack(const std::string& name, double advantage, int64_t records = 1000) {
  AttackResult result;
  result.attack = name;
  result.score.members = result.score.non_members = records;
  result.score.tpr = (1 + advantage) / 2;
  result.score.fpr = (1 - advantage) / 2;
  result.score.advantage = advantage;
  return result;
}

/// A setting of a defense, `k` of its sweep; its attack is called loss.
CellResult cell(const std::string& defense, int k, int64_t seed, double accuracy,
                double advantage) {
  CellResult result;
  result.data = "location30";
  result.model = "mlp";
  result.defense = result.label = defense;
  if (defense != "none") result.swept = {{defense + ".k", std::to_string(k)}};
  result.seed = seed;
  result.test_accuracy = accuracy;
  result.attacks = {attack("loss", advantage)};
  return result;
}

/// One seed of two curves of three settings each, and the undefended model. `ccl` leaks `more`.
void add_seed(Results& results, int64_t seed, double more) {
  results.cells.push_back(cell("none", 0, seed, 0.68, 0.6));
  results.cells.push_back(cell("ccl", 1, seed, 0.60, 0.1 + more));
  results.cells.push_back(cell("ccl", 2, seed, 0.66, 0.2 + more));
  results.cells.push_back(cell("ccl", 3, seed, 0.70, 0.4 + more));
  results.cells.push_back(cell("dropout", 1, seed, 0.58, 0.2));
  results.cells.push_back(cell("dropout", 2, seed, 0.64, 0.3));
  results.cells.push_back(cell("dropout", 3, seed, 0.72, 0.5));
}

Results seeds(const std::vector<double>& more) {
  Results results;
  for (size_t i = 0; i < more.size(); ++i) add_seed(results, static_cast<int64_t>(i), more[i]);
  return results;
}

MatchedPair pair_of(const Results& results, const std::string& own, const std::string& rival,
                    const std::string& attack = "") {
  for (const auto& pair : matched_pairs(results, attack))
    if (pair.own == own && pair.rival == rival) return pair;
  ADD_FAILURE() << "no pair of " << own << " and " << rival;
  return {};
}

MatchedPair ccl_and_dropout(const Results& results) { return pair_of(results, "ccl", "dropout"); }

TEST(MatchedUtility, ComparesNobodyWithAModelTrainedOnMoreRecords) {
  auto results = seeds({0, 0.01});
  for (auto& each : results.cells)
    each.member_records.resize(each.defense == "dropout" ? 1200 : 1500);
  std::vector<std::string> names;
  for (const auto& pair : matched_pairs(results)) names.push_back(pair.own + "|" + pair.rival);
  EXPECT_EQ(names, std::vector<std::string>{"ccl|none"});
}

/// Defenses that are compared among 1,500 members, and one with an undefended model of its own that
/// had fewer, as protocol five_way gives.
Results two_sizes() {
  auto results = seeds({0, 0.01, 0.02});
  for (auto& each : results.cells) each.member_records.resize(1500);
  for (int64_t seed = 0; seed < 3; ++seed) {
    results.cells.push_back(cell("none", 0, seed, 0.64, 0.7));
    results.cells.back().label = "none (five-way)";
    results.cells.push_back(cell("advreg", 1, seed, 0.65, 0.05));
  }
  for (auto& each : results.cells)
    if (each.member_records.empty()) each.member_records.resize(1200);
  return results;
}

TEST(Findings, TellModelsTrainedOnMoreRecordsApart) {
  const auto paragraphs = findings(two_sizes());
  ASSERT_EQ(paragraphs.size(), 2U);
  const auto holds = [&](size_t i, const std::string& part) {
    return paragraphs[i].find(part) != std::string::npos;
  };
  EXPECT_TRUE(paragraphs[0].starts_with(
      "location30 with mlp, 1,500 members: the undefended model reaches a test accuracy of 0.680"))
      << paragraphs[0];
  EXPECT_TRUE(holds(0, "Of 6 defended settings, 2 are no less accurate; of these ccl (k=3)"))
      << paragraphs[0];
  EXPECT_TRUE(paragraphs[0].ends_with(
      "At the undefended accuracy of 0.680, ccl leaks 0.090 less than dropout (95 % over 3 seeds: "
      "0.065 to 0.115)."))
      << paragraphs[0];
  EXPECT_TRUE(paragraphs[1].starts_with(
      "location30 with mlp, 1,200 members: the undefended model reaches a test accuracy of 0.640"))
      << paragraphs[1];
  EXPECT_TRUE(holds(1, "Of one defended setting, one is no less accurate; of these advreg (k=1)"))
      << paragraphs[1];
  EXPECT_FALSE(holds(1, "ccl")) << paragraphs[1];
}

TEST(Findings, DoNotSayTheNumberOfMembersWhereItTellsNothingApart) {
  auto results = two_sizes();
  for (auto& each : results.cells) each.member_records.resize(1500);
  const auto paragraphs = findings(results);
  ASSERT_EQ(paragraphs.size(), 1U);
  EXPECT_TRUE(paragraphs[0].starts_with("location30 with mlp: ")) << paragraphs[0];
}

TEST(MatchedHtml, TellsModelsTrainedOnMoreRecordsApart) {
  auto results = two_sizes();
  for (auto& each : results.cells)
    if (each.defense == "advreg") each.test_accuracy = 0.64;  // that of its undefended model
  const auto html = matched_html(results);
  const auto more = html.find("<h3>location30 with mlp, 1,500 members</h3>");
  const auto fewer = html.find("<h3>location30 with mlp, 1,200 members</h3>");
  ASSERT_NE(more, std::string::npos);
  ASSERT_NE(fewer, std::string::npos);
  EXPECT_LT(html.find("<td>ccl</td><td>dropout</td>"), fewer);
  EXPECT_GT(html.find("advreg"), fewer);
  EXPECT_NE(html.find("<td>advreg</td><td>none (five-way)</td>"), std::string::npos);
}

TEST(Frontier, IsTheLowestAdvantageThatIsAtLeastSoAccurate) {
  // (0.5, 0.3) and (0.65, 0.5) are beaten; left of 0.6 there are settings, and 0.6 beats them.
  const Frontier frontier({{0.7, 0.4}, {0.5, 0.3}, {0.6, 0.2}, {0.65, 0.5}});
  ASSERT_EQ(frontier.corners().size(), 2U);
  EXPECT_DOUBLE_EQ(frontier.range().low, 0.5);
  EXPECT_DOUBLE_EQ(frontier.range().high, 0.7);
  EXPECT_DOUBLE_EQ(frontier.at(0.5), 0.2);
  EXPECT_DOUBLE_EQ(frontier.at(0.6), 0.2);
  EXPECT_DOUBLE_EQ(frontier.at(0.65), 0.3);
  EXPECT_DOUBLE_EQ(frontier.at(0.7), 0.4);
  EXPECT_DOUBLE_EQ(frontier.mean({0.5, 0.7}), (0.1 * 0.2 + 0.1 * 0.3) / 0.2);
}

TEST(Frontier, KeepsTheBetterOfTies) {
  const Frontier frontier({{0.6, 0.3}, {0.6, 0.2}, {0.7, 0.4}, {0.65, 0.4}, {0.7, 0.4}});
  ASSERT_EQ(frontier.corners().size(), 2U);
  EXPECT_DOUBLE_EQ(frontier.corners()[0].advantage, 0.2);
  EXPECT_DOUBLE_EQ(frontier.corners()[1].accuracy, 0.7);
}

TEST(Frontier, OfOneSettingIsThatSetting) {
  const Frontier frontier({{0.6, 0.2}});
  EXPECT_DOUBLE_EQ(frontier.at(0.6), 0.2);
  EXPECT_DOUBLE_EQ(frontier.mean({0.6, 0.6}), 0.2);
}

TEST(Frontier, MeanIsThatOfManyPlaces) {
  Dice dice(3);
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<TradeOff> settings;
    for (int i = 0; i < 6; ++i) settings.push_back({dice.uniform(), dice.uniform()});
    const Frontier frontier(settings);
    const auto [low, high] = frontier.range();
    double sum = 0;
    constexpr int kPlaces = 20000;
    for (int i = 0; i < kPlaces; ++i) sum += frontier.at(low + (high - low) * (i + 0.5) / kPlaces);
    EXPECT_NEAR(frontier.mean({low, high}), sum / kPlaces, 1e-6);
  }
}

TEST(Frontier, IsOrderedOnlyWhereItLiesOnOneSideEverywhere) {
  const Frontier low({{0.6, 0.1}, {0.7, 0.2}}), high({{0.6, 0.3}, {0.7, 0.4}});
  EXPECT_EQ(order(low, high), -1);
  EXPECT_EQ(order(high, low), 1);
  EXPECT_EQ(order(low, low), 0);
  // Below at both ends, above at the corner between them.
  EXPECT_EQ(order(Frontier({{0.6, 0.2}, {0.65, 0.38}, {0.7, 0.39}}), high), 0);
}

TEST(MatchedUtility, OfTwoCurvesAndTwoSeedsIsTheHandValue) {
  const auto pair = ccl_and_dropout(seeds({0, 0.02}));
  EXPECT_EQ(pair.repetitions, 2);
  ASSERT_TRUE(pair.shared && pair.undefended && pair.middle && pair.mean);
  EXPECT_DOUBLE_EQ(pair.shared->low, 0.60);
  EXPECT_DOUBLE_EQ(pair.shared->high, 0.70);
  // At 0.68, seed 0: ccl half way from 0.2 to 0.4, dropout half way from 0.3 to 0.5.
  EXPECT_NEAR(pair.undefended->accuracy, 0.68, 1e-12);
  EXPECT_NEAR(pair.undefended->spread.mean, ((0.3 - 0.4) + (0.32 - 0.4)) / 2, 1e-12);
  // At 0.65: ccl 0.1 + 0.1 * 5 / 6, dropout 0.3 + 0.2 / 8.
  EXPECT_NEAR(pair.middle->accuracy, 0.65, 1e-12);
  EXPECT_NEAR(pair.middle->spread.mean, 0.1 + 0.1 * 5 / 6 + 0.01 - 0.325, 1e-12);
  // Areas: ccl 0.06 * 0.15 + 0.04 * 0.3; dropout, from 0.7 / 3 at 0.60 to 0.45 at 0.70,
  // 0.04 * (0.7 / 3 + 0.3) / 2 + 0.06 * 0.375. The width is 0.1.
  const double ccl = 0.06 * 0.15 + 0.04 * 0.3;
  const double dropout = 0.04 * (0.7 / 3 + 0.3) / 2 + 0.06 * 0.375;
  EXPECT_NEAR(pair.mean->spread.mean, (ccl - dropout) / 0.1 + 0.01, 1e-12);
  EXPECT_EQ(pair.order, -1);
  // Differences 0.02 apart: standard error 0.01, Student's quantile 12.706.
  ASSERT_TRUE(pair.undefended->spread.repeats);
  EXPECT_NEAR(pair.undefended->spread.repeats->low, -0.09 - 12.706 * 0.01, 1e-4);
  EXPECT_NEAR(pair.undefended->spread.repeats->high, -0.09 + 12.706 * 0.01, 1e-4);
  EXPECT_FALSE(pair.undefended->spread.records);
}

TEST(MatchedUtility, ComparesTheUndefendedModelToo) {
  const auto pair = pair_of(seeds({0, 0}), "ccl", "none");
  ASSERT_TRUE(pair.undefended);
  EXPECT_TRUE(pair.rival_undefended);
  EXPECT_NEAR(pair.undefended->spread.mean, 0.3 - 0.6, 1e-12);
  EXPECT_DOUBLE_EQ(pair.shared->low, pair.shared->high);
  EXPECT_NEAR(pair.mean->spread.mean, 0.3 - 0.6, 1e-12);
}

TEST(MatchedUtility, TakesTheStrongestAttackOfEachCellOrTheOneThatIsNamed) {
  auto results = seeds({0, 0});
  for (auto& each : results.cells) each.attacks.push_back(attack("neural", 0.05));
  results.cells[3].attacks[1] = attack("neural", 0.5);  // ccl at 0.70, seed 0
  // Half way between 0.2 and 0.5, and between 0.2 and 0.4; dropout has 0.4.
  EXPECT_NEAR(ccl_and_dropout(results).undefended->spread.mean, (-0.05 - 0.1) / 2, 1e-12);
  EXPECT_NEAR(pair_of(results, "ccl", "dropout", "loss").undefended->spread.mean, -0.1, 1e-12);
  EXPECT_EQ(pair_of(results, "ccl", "dropout", "neural").attack, "neural");
  results.cells[3].attacks[1].score.decided = false;
  EXPECT_NEAR(ccl_and_dropout(results).undefended->spread.mean, -0.1, 1e-12);
}

TEST(MatchedUtility, NeverExtrapolates) {
  Results results;
  results.cells = {cell("ccl", 1, 0, 0.50, 0.1), cell("ccl", 2, 0, 0.55, 0.2),
                   cell("dropout", 1, 0, 0.56, 0.1), cell("dropout", 2, 0, 0.60, 0.2)};
  const auto pair = ccl_and_dropout(results);
  EXPECT_EQ(pair.repetitions, 1);
  EXPECT_FALSE(pair.shared || pair.undefended || pair.middle || pair.mean);
  EXPECT_EQ(matched_sentence(pair),
            "ccl and dropout reach no accuracy in common, so they cannot be compared at matched "
            "utility.");
  EXPECT_EQ(leading_sentence({pair}), "");
  EXPECT_NE(matched_html(results).find(
                "<p>No two of these curves share an accuracy, so they cannot be compared at "
                "matched utility.</p>"),
            std::string::npos);
}

TEST(MatchedUtility, OfSingleSettingsNeedsTheSameAccuracy) {
  Results results;
  results.cells = {cell("none", 0, 0, 0.6, 0.5), cell("rounding", 1, 0, 0.6, 0.4),
                   cell("ccl", 1, 0, 0.61, 0.2)};
  EXPECT_FALSE(pair_of(results, "ccl", "none").shared);
  const auto same = pair_of(results, "rounding", "none");
  ASSERT_TRUE(same.undefended);
  EXPECT_NEAR(same.undefended->spread.mean, -0.1, 1e-12);
  EXPECT_NEAR(same.mean->spread.mean, -0.1, 1e-12);
}

TEST(MatchedUtility, LeavesOutSeedsInWhichTheAccuracyIsNotShared) {
  auto results = seeds({0, 0, 0});
  results.cells[7].test_accuracy = 0.71;  // undefended, seed 1: above all of ccl
  EXPECT_EQ(matched_sentence(ccl_and_dropout(results)),
            "At the undefended accuracy of 0.680, ccl leaks 0.100 less than dropout (95 % over 2 "
            "of 3 seeds: 0.100 to 0.100).");
  results.cells[14].test_accuracy = 0.71;
  EXPECT_EQ(matched_sentence(ccl_and_dropout(results)),
            "At the undefended accuracy of 0.680, ccl leaks 0.100 less than dropout (one of 3 "
            "seeds, so no interval).");
}

TEST(MatchedUtility, SaysWhenThereIsNoSeedInCommon) {
  Results results;
  results.cells = {cell("ccl", 1, 0, 0.5, 0.1), cell("dropout", 1, 1, 0.5, 0.1)};
  EXPECT_EQ(matched_sentence(ccl_and_dropout(results)),
            "ccl and dropout have no seed in common, so they cannot be compared at matched "
            "utility.");
}

TEST(MatchedUtility, PairsTargetsWhereThereIsOneSeed) {
  auto results = seeds({0, 0.02});
  for (auto& each : results.cells) std::swap(each.seed, each.target);
  EXPECT_EQ(matched_sentence(ccl_and_dropout(results)),
            "At the undefended accuracy of 0.680, ccl leaks 0.090 less than dropout, which may be "
            "chance (95 % over 2 targets: -0.037 to 0.217).");
}

TEST(MatchedUtility, LeavesOutAttackersWhoDoNotKnowTheDefense) {
  auto results = seeds({0, 0.02});
  auto fooled = results;
  for (auto& each : results.cells) each.swept.emplace_back("shadows.defense", "same");
  for (auto& each : fooled.cells) {
    each.swept.emplace_back("shadows.defense", "none");
    each.attacks = {attack("loss", 0)};
    results.cells.push_back(each);
  }
  const auto pairs = matched_pairs(results);
  ASSERT_EQ(pairs.size(), 3U);
  EXPECT_NEAR(ccl_and_dropout(results).undefended->spread.mean, -0.09, 1e-12);
  EXPECT_EQ(pareto_front(results)[0].setting, "ccl (k=1)");
}

TEST(MatchedUtility, KeepsOtherSweptKeysApart) {
  Results results;
  for (const auto* epochs : {"30", "60"}) {
    auto part = seeds({0, 0});
    for (auto& each : part.cells) {
      each.swept.insert(each.swept.begin(), {"train.epochs", epochs});
      results.cells.push_back(each);
    }
  }
  const auto pairs = matched_pairs(results);
  ASSERT_EQ(pairs.size(), 6U);
  for (const auto& pair : pairs)
    EXPECT_EQ(pair.own.substr(pair.own.find(' ')), pair.rival.substr(pair.rival.find(' ')));
  EXPECT_EQ(pairs[0].own, "ccl (epochs=30)");
  EXPECT_EQ(pareto_front(results).size(), 2 * pareto_front(seeds({0, 0})).size());
}

TEST(MatchedUtility, ComparesWhatOneDefenseSweepsInItsWith) {
  auto results = seeds({0, 0});
  for (auto& each : results.cells)
    if (each.defense == "ccl") each.swept.emplace_back("train.epochs", "60");
  EXPECT_TRUE(pair_of(results, "ccl (epochs=60)", "dropout").undefended);
}

TEST(MatchedUtility, LeavesOutModelsOfOthersAndCellsWithoutAccuracy) {
  auto results = seeds({0});
  for (auto& each : results.cells) each.defense.clear();
  EXPECT_TRUE(matched_pairs(results).empty());
  EXPECT_TRUE(pareto_front(results).empty());
  EXPECT_EQ(matched_html(results), "");
  results = seeds({0});
  for (auto& each : results.cells) each.test_accuracy.reset();
  EXPECT_TRUE(matched_pairs(results).empty());
  EXPECT_TRUE(pareto_front(results).empty());
}

TEST(MatchedUtility, OfOneSeedHasABootstrapOverRecords) {
  Results results;
  // Two rates of 1,000 records each per side: standard error sqrt(2 * 2 * 0.25 / 1000).
  results.cells = {cell("a", 1, 0, 0.6, 0), cell("b", 1, 0, 0.6, 0)};
  const auto pair = pair_of(results, "a", "b");
  EXPECT_FALSE(pair.mean->spread.repeats);
  ASSERT_TRUE(pair.mean->spread.records);
  EXPECT_NEAR(pair.mean->spread.records->high, 1.96 * std::sqrt(0.001), 0.006);
  EXPECT_DOUBLE_EQ(pair.mean->spread.records->low, -pair.mean->spread.records->high);
}

TEST(MatchedUtility, TakesCertaintyFromNoRate) {
  Results results;
  results.cells = {cell("a", 1, 0, 0.6, 1), cell("b", 1, 0, 0.6, 1)};
  for (auto& each : results.cells) each.attacks = {attack("loss", 1, 100)};
  EXPECT_GT(pair_of(results, "a", "b").mean->spread.records->high, 0.01);
}

TEST(MatchedUtility, CountsTheErrorOfTheAccuracy) {
  auto results = seeds({0});
  const auto width = [&] {
    const auto found = *ccl_and_dropout(results).undefended->spread.records;
    return found.high - found.low;
  };
  const double known = width();
  for (auto& each : results.cells)
    each.test_accuracy_interval = {*each.test_accuracy - 0.02, *each.test_accuracy + 0.02};
  EXPECT_GT(width(), 1.2 * known);
}

TEST(MatchedUtility, HasTheSameBitsWhateverElseIsCompared) {
  auto results = seeds({0});
  const auto alone = *ccl_and_dropout(results).middle->spread.records;
  results.cells.insert(results.cells.begin(), cell("other", 1, 0, 0.6, 0.3));
  const auto among = *ccl_and_dropout(results).middle->spread.records;
  EXPECT_EQ(alone.low, among.low);
  EXPECT_EQ(alone.high, among.high);
}

/// Two defenses of three settings that are truly the same, attacked on 1,000 members and 1,000
/// others, and tested on 1,000 records, or on so many that the accuracy is known.
Results simulated(int64_t runs, bool accuracy_known, Dice& dice) {
  const auto share = [&](double chance) {
    return static_cast<double>(dice.binomial(1000, chance)) / 1000;
  };
  Results results;
  for (int64_t seed = 0; seed < runs; ++seed) {
    for (const auto* defense : {"a", "b"}) {
      for (int k = 0; k < 3; ++k) {
        auto each = cell(defense, k, seed, 0.6 + 0.05 * k, 0);
        if (!accuracy_known) {
          each.test_accuracy = share(0.6 + 0.05 * k);
          each.test_accuracy_interval =
              clopper_pearson(std::lround(*each.test_accuracy * 1000), 1000);
        }
        auto& score = each.attacks[0].score;
        score.tpr = share(0.5 + 0.15 * k);
        score.fpr = share(0.3);
        score.advantage = score.tpr - score.fpr;
        results.cells.push_back(each);
      }
    }
  }
  return results;
}

bool covers_none(const MatchedDifference& difference) {
  const auto& spread = difference.spread;
  const auto& interval = spread.repeats ? spread.repeats : spread.records;
  return interval && interval->low <= 0 && interval->high >= 0;
}

/// In how many of 1,000 simulations the intervals hold the true difference of 0.
void expect_coverage(int64_t runs, bool accuracy_known, int least, int most) {
  Dice dice(11);
  int middle = 0, mean = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto pair = pair_of(simulated(runs, accuracy_known, dice), "a", "b");
    middle += covers_none(*pair.middle);
    mean += covers_none(*pair.mean);
  }
  for (const int covered : {middle, mean}) {
    EXPECT_GE(covered, least) << runs << " seeds";
    EXPECT_LE(covered, most) << runs << " seeds";
  }
}

TEST(MatchedUtility, CoversNoDifferenceOfEqualDefensesOverSeeds) {
  for (const int64_t runs : {2, 4}) expect_coverage(runs, false, 930, 970);
}

TEST(MatchedUtility, CoversNoDifferenceOfEqualDefensesOverRecords) {
  expect_coverage(1, true, 930, 970);
  expect_coverage(1, false, 930, 990);  // wide rather than narrow
}

TEST(ParetoFront, IsWhatNoOtherSettingBeats) {
  Results results;
  results.cells = {cell("none", 0, 0, 0.70, 0.5),    cell("ccl", 1, 0, 0.70, 0.4),
                   cell("ccl", 2, 0, 0.60, 0.1),     cell("dropout", 1, 0, 0.60, 0.1),
                   cell("dropout", 2, 0, 0.65, 0.4), cell("dropout", 3, 0, 0.72, 0.6)};
  std::vector<std::string> settings;
  for (const auto& each : pareto_front(results)) settings.push_back(each.setting);
  // none and dropout (k=2) are beaten by ccl (k=1); the two at (0.60, 0.1) are equals.
  EXPECT_EQ(settings,
            (std::vector<std::string>{"ccl (k=1)", "ccl (k=2)", "dropout (k=1)", "dropout (k=3)"}));
}

TEST(ParetoFront, IsThatOfEachDataSetAndModel) {
  Results results;
  results.cells = {cell("none", 0, 0, 0.70, 0.5), cell("ccl", 1, 0, 0.75, 0.4)};
  results.cells[0].data = "purchase100";
  EXPECT_EQ(pareto_front(results).size(), 2U);
}

TEST(MatchedSentence, NamesTheOneThatLeaksLess) {
  EXPECT_EQ(matched_sentence(ccl_and_dropout(seeds({0, 0.01, 0.02}))),
            "At the undefended accuracy of 0.680, ccl leaks 0.090 less than dropout (95 % over 3 "
            "seeds: 0.065 to 0.115).");
  EXPECT_EQ(matched_sentence(ccl_and_dropout(seeds({0.2, 0.21, 0.22}))),
            "At the undefended accuracy of 0.680, dropout leaks 0.110 less than ccl (95 % over 3 "
            "seeds: 0.085 to 0.135).");
  EXPECT_EQ(matched_sentence(ccl_and_dropout(seeds({0.09, 0.1, 0.11}))),
            "At the undefended accuracy of 0.680, ccl leaks as much as dropout (95 % over 3 seeds: "
            "-0.025 to 0.025).");
  EXPECT_EQ(matched_sentence(pair_of(seeds({0, 0.01, 0.02}), "ccl", "none")),
            "At the undefended accuracy of 0.680, ccl leaks 0.290 less than the undefended model "
            "(95 % over 3 seeds: 0.265 to 0.315).");
}

TEST(MatchedSentence, IsAboutTheMiddleWhereTheUndefendedAccuracyIsNotShared) {
  auto results = seeds({0, 0.01, 0.02});
  std::erase_if(results.cells, [](const auto& each) { return each.defense == "none"; });
  EXPECT_EQ(matched_sentence(ccl_and_dropout(results)),
            "At an accuracy of 0.650, the middle of what both reach, ccl leaks 0.132 less than "
            "dropout (95 % over 3 seeds: 0.107 to 0.157).");
}

TEST(MatchedSentence, SaysOverWhatTheIntervalOfOneSeedIs) {
  Results results;
  results.cells = {cell("none", 0, 0, 0.6, 0.5), cell("ccl", 1, 0, 0.6, 0.2)};
  const auto pair = pair_of(results, "ccl", "none");
  const auto interval = *pair.undefended->spread.records;
  EXPECT_EQ(matched_sentence(pair),
            "At the undefended accuracy of 0.600, ccl leaks 0.300 less than the undefended model "
            "(95 % over records of one seed: " +
                decimals(-interval.high) + " to " + decimals(-interval.low) + ").");
}

TEST(LeadingSentence, SetsTheBestDefenseBesideTheNext) {
  auto results = seeds({0, 0.01, 0.02});
  EXPECT_EQ(leading_sentence(matched_pairs(results)),
            "At the undefended accuracy of 0.680, ccl leaks 0.090 less than dropout (95 % over 3 "
            "seeds: 0.065 to 0.115).");
  for (int64_t seed = 0; seed < 3; ++seed) {
    results.cells.push_back(cell("smoothing", 1, seed, 0.67, 0.45));
    results.cells.push_back(cell("smoothing", 2, seed, 0.69, 0.45));
    results.cells.push_back(cell("early", 1, seed, 0.5, 0.0));  // reaches nothing
  }
  EXPECT_EQ(leading_sentence(matched_pairs(results)),
            "At the undefended accuracy of 0.680, ccl leaks least of the 3 defenses that reach it: "
            "0.090 less than dropout, the next (95 % over 3 seeds: 0.065 to 0.115).");
}

TEST(LeadingSentence, IsAboutTheUndefendedModelWhereASingleDefenseReachesIt) {
  auto results = seeds({0, 0.01, 0.02});
  std::erase_if(results.cells, [](const auto& each) { return each.defense == "dropout"; });
  EXPECT_EQ(leading_sentence(matched_pairs(results)),
            "At the undefended accuracy of 0.680, ccl leaks 0.290 less than the undefended model "
            "(95 % over 3 seeds: 0.265 to 0.315).");
}

TEST(LeadingSentence, IsEmptyWhereNoDefenseLeads) {
  EXPECT_EQ(leading_sentence(matched_pairs(seeds({0.09, 0.1, 0.11}))), "");
  EXPECT_EQ(leading_sentence({}), "");
}

TEST(LeadingSentence, IsAboutTheGroundWithTheMostAccurateUndefendedModel) {
  Results results;
  for (const auto* epochs : {"30", "60"}) {
    auto part = seeds({0, 0.01, 0.02});
    for (auto& each : part.cells) {
      each.swept.insert(each.swept.begin(), {"train.epochs", epochs});
      if (each.defense == "none" && epochs == std::string("30")) each.test_accuracy = 0.66;
      results.cells.push_back(each);
    }
  }
  EXPECT_EQ(leading_sentence(matched_pairs(results)),
            "At the undefended accuracy of 0.680, ccl (epochs=60) leaks 0.090 less than dropout "
            "(epochs=60) (95 % over 3 seeds: 0.065 to 0.115).");
}

TEST(LeadingSentence, EndsTheFindings) {
  const auto results = seeds({0, 0.01, 0.02});
  EXPECT_TRUE(findings(results).at(0).ends_with(' ' + leading_sentence(matched_pairs(results))));
}

TEST(MatchedHtml, ShowsPairsSentencesAndTheParetoFront) {
  auto results = seeds({0, 0.01, 0.02});
  for (auto& each : results.cells) each.attacks.push_back(attack("neural", 0.01));
  const auto html = matched_html(results);
  for (const auto* part :
       {"<h2>At equal accuracy</h2>", "<td>ccl</td><td>dropout</td>", ">0.600 to 0.700</td>",
        ">-0.090<small>[-0.115, -0.065]</small><small>at 0.680</small></td>",
        "<td>always less</td>", "<li>At the undefended accuracy of 0.680, ccl leaks 0.090 less",
        "<summary>Under each attack</summary>", "<td>neural</td><td>ccl</td><td>dropout</td>",
        "<td>ccl (k=1)</td><td>loss</td><td>0.600</td><td>0.110</td>"})
    EXPECT_NE(html.find(part), std::string::npos) << part;
  EXPECT_EQ(html.find("<h3>"), std::string::npos);
  EXPECT_NE(html_report(results, "").find(html), std::string::npos);
}

TEST(MatchedHtml, SaysInHowManySeedsAnAccuracyIsShared) {
  auto results = seeds({0, 0, 0});
  results.cells[7].test_accuracy = 0.71;
  EXPECT_NE(matched_html(results).find("<small>at 0.680</small><small>2 of 3 seeds</small>"),
            std::string::npos);
}

TEST(MatchedHtml, TellsDataSetsAndModelsApart) {
  auto results = seeds({0, 0.01, 0.02}), others = results;
  for (auto& each : others.cells) {
    each.model = "cnn";
    results.cells.push_back(each);
  }
  const auto html = matched_html(results);
  EXPECT_NE(html.find("<h3>location30 with mlp</h3>"), std::string::npos);
  EXPECT_NE(html.find("<h3>location30 with cnn</h3>"), std::string::npos);
}

TEST(MatchedHtml, EscapesWhateverTheUserWrote) {
  const std::string evil = "<script>alert(1)</script>";
  auto results = seeds({0, 0.01});
  auto more = results;
  more.cells.back().data = "other";
  for (auto& each : results.cells) {
    each.data = each.model = evil;
    each.label += evil;
    each.attacks[0].attack = evil;
    each.attacks.push_back(attack(evil + "2", 0));
    each.swept.emplace_back(evil, evil);
    more.cells.push_back(each);
  }
  const auto html = matched_html(more);
  EXPECT_EQ(html.find("<script>"), std::string::npos);
  EXPECT_NE(html.find("ccl&lt;script&gt;"), std::string::npos);
}

TEST(MatchedHtml, IsEmptyWithoutTwoCurves) {
  Results results;
  EXPECT_EQ(matched_html(results), "");
  results.cells = {cell("none", 0, 0, 0.6, 0.5)};
  EXPECT_EQ(matched_html(results), "");
}

TEST(MatchedJson, HoldsPairsUnderTheStrongestAndUnderEachAttack) {
  const auto json = results_json(seeds({0, 0.01, 0.02}))["matched"];
  ASSERT_EQ(json["pairs"].size(), 6U);
  const auto& pair = json["pairs"][2];
  EXPECT_EQ(pair["own"], "ccl");
  EXPECT_EQ(pair["rival"], "dropout");
  EXPECT_TRUE(pair["attack"].is_null());
  EXPECT_EQ(json["pairs"][5]["attack"], "loss");
  EXPECT_NEAR(pair["undefended"]["difference"], -0.09, 1e-12);
  EXPECT_EQ(pair["undefended"]["over"], "seeds");
  EXPECT_EQ(pair["undefended"]["repetitions"], 3);
  EXPECT_EQ(pair["order"], -1);
  EXPECT_NEAR(pair["shared"][1], 0.7, 1e-12);
  EXPECT_EQ(json["pareto"][0]["setting"], "ccl (k=1)");
}

}  // namespace
}  // namespace imprint::matched_utility_test
