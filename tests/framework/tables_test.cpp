#include "framework/reports/tables.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

namespace imprint::tables_test {
namespace {

/// An attack on 200 members and 200 non-members: a FPR of 0.001 is out of reach.
AttackResult table_attack(const std::string& name, double advantage) {
  AttackResult result;
  result.attack = name;
  result.threat = "probabilities";
  auto& score = result.score;
  score.members = score.non_members = 200;
  score.precision = 0.75;
  score.recall = 0.9;
  score.advantage = advantage;
  score.advantage_interval = {advantage - 0.05, advantage + 0.05};
  score.advantage_best = 0.5;
  score.auc = 0.8;
  score.auc_interval = {0.75, 0.85};
  score.tpr_at = {{0.001, 0, 0.005, 1, 200, {0, 0.03}, false},
                  {0.01, 0.01, 0.1, 20, 200, {0.0625, 0.15}, true},
                  {0.1, 0.095, 0.4, 80, 200, {0.33, 0.47}, true}};
  result.epsilon_low = 0.25;
  result.p1 = 0.6;
  return result;
}

CellResult cell(const std::string& id, const std::string& defense, int64_t seed = 0) {
  CellResult result;
  result.id = id;
  result.data = "location30";
  result.model = "mlp";
  result.defense = result.label = defense;
  result.seed = seed;
  result.train_accuracy = 1;
  result.test_accuracy = 0.625;
  result.test_accuracy_interval = {0.55, 0.69};
  return result;
}

CellResult attacked(CellResult result, double advantage) {
  result.attacks = {table_attack("loss", advantage)};
  result.p1_cell = CellP1{0.6, "loss", {0.57, 0.63}};
  return result;
}

Results results_of(std::vector<CellResult> cells) {
  Results results;
  results.name = "small";
  results.cells = std::move(cells);
  return results;
}

std::vector<std::string> lines(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> result;
  for (std::string line; std::getline(stream, line);) result.push_back(line);
  return result;
}

/// Fields of a line without quotes.
std::vector<std::string> fields(const std::string& line) {
  std::vector<std::string> result(1);
  for (const char c : line) {
    if (c == ',') {
      result.emplace_back();
    } else {
      result.back() += c;
    }
  }
  return result;
}

/// Column -> field of one row of a CSV text.
std::map<std::string, std::string> row(const std::string& csv, size_t index) {
  const auto names = fields(lines(csv).at(0)), values = fields(lines(csv).at(index + 1));
  EXPECT_EQ(names.size(), values.size());
  std::map<std::string, std::string> result;
  for (size_t i = 0; i < names.size(); ++i) result[names[i]] = values[i];
  return result;
}

constexpr const char* kHeader =
    "cell,data,model,defense,label,seed,target,attack,train_accuracy,test_accuracy,"
    "advantage,advantage_low,advantage_high,advantage_best,auc,auc_low,auc_high,"
    "tpr_at_0.001,tpr_at_0.001_low,tpr_at_0.001_high,fpr_realised_at_0.001,hits_at_0.001,"
    "tpr_at_0.01,tpr_at_0.01_low,tpr_at_0.01_high,fpr_realised_at_0.01,hits_at_0.01,"
    "tpr_at_0.1,tpr_at_0.1_low,tpr_at_0.1_high,fpr_realised_at_0.1,hits_at_0.1,"
    "precision,recall,epsilon_low,p1,p1_cell,p1_cell_low,p1_cell_high,p1_cell_attack,members,non_"
    "members";

TEST(ResultsCsv, HasItsColumnsEvenWithoutCells) {
  EXPECT_EQ(results_csv({}), std::string(kHeader) + "\n");
}

TEST(ResultsCsv, WritesOneRowPerCellAndAttack) {
  auto both = attacked(cell("none-0", "none"), 0.5);
  both.attacks.push_back(table_attack("neural", 0.25));
  const auto text = lines(results_csv(results_of({both})));
  ASSERT_EQ(text.size(), 3U);
  EXPECT_EQ(text[0], kHeader);
  EXPECT_EQ(text[1],
            "none-0,location30,mlp,none,none,0,0,loss,1,0.625,0.5,0.45,0.55,0.5,0.8,0.75,0.85,"
            ",,,0,,0.1,0.0625,0.15,0.01,20,0.4,0.33,0.47,0.095,80,"
            "0.75,0.9,0.25,0.6,0.6,0.57,0.63,loss,200,200");
  EXPECT_EQ(row(results_csv(results_of({both})), 1)["attack"], "neural");
}

TEST(ResultsCsv, WritesDoublesThatReadBackToTheSameBits) {
  auto one = attacked(cell("a", "none"), 0.1);
  one.test_accuracy = 1.0 / 3;
  EXPECT_EQ(std::stod(row(results_csv(results_of({one})), 0)["test_accuracy"]), 1.0 / 3);
}

TEST(ResultsCsv, LeavesRatesEmptyThatTooFewRecordsCannotResolve) {
  const auto values = row(results_csv(results_of({attacked(cell("a", "none"), 0.5)})), 0);
  for (const auto* column : {"tpr_at_0.001", "tpr_at_0.001_low", "tpr_at_0.001_high"}) {
    EXPECT_EQ(values.at(column), "") << column;
  }
  EXPECT_EQ(values.at("tpr_at_0.01"), "0.1");
}

TEST(ResultsCsv, KeepsACellWithoutAttacks) {
  const auto values = row(results_csv(results_of({cell("a", "none")})), 0);
  EXPECT_EQ(values.at("attack"), "");
  EXPECT_EQ(values.at("test_accuracy"), "0.625");
  for (const auto* column : {"advantage", "tpr_at_0.1", "p1", "p1_cell", "members"}) {
    EXPECT_EQ(values.at(column), "") << column;
  }
}

TEST(ResultsCsv, HasAColumnForEveryKeyThatAnyCellSweeps) {
  auto ccl = cell("b", "ccl"), dropout = cell("c", "dropout");
  ccl.swept = {{"defenses[1].alpha", "0.50"}};
  dropout.swept = {{"defenses[2].rate", "0.1"}, {"defenses[1].alpha", "1"}};
  const auto csv = results_csv(results_of({cell("a", "none"), ccl, dropout}));
  EXPECT_EQ(lines(csv)[0].substr(0, 73),
            "cell,data,model,defense,label,defenses[1].alpha,defenses[2].rate,seed,tar");
  EXPECT_EQ(row(csv, 0)["defenses[1].alpha"], "");
  EXPECT_EQ(row(csv, 1)["defenses[1].alpha"], "0.50");
  EXPECT_EQ(row(csv, 1)["defenses[2].rate"], "");
  EXPECT_EQ(row(csv, 2)["defenses[2].rate"], "0.1");
}

TEST(ResultsCsv, QuotesCommasQuotesAndLineBreaks) {
  auto odd = cell("a", "none");
  odd.label = "a \"b\", c\nd";
  EXPECT_NE(results_csv(results_of({odd})).find(",none,\"a \"\"b\"\", c\nd\",0,"),
            std::string::npos);
}

TEST(MetricsCsv, WritesOneRowPerMetricWithEmptyFieldsForWhatIsAbsent) {
  auto one = cell("a", "none", 3);
  one.metrics = {{"kkt.residual", 0.25, 0.125, 0.5, 40}, {"kkt.margin", 2, {}, {}, {}}};
  EXPECT_EQ(metrics_csv(results_of({one})),
            "cell,seed,target,metric,value,low,high,n\n"
            "a,3,0,kkt.residual,0.25,0.125,0.5,40\n"
            "a,3,0,kkt.margin,2,,,\n");
}

TEST(ResultsJson, HoldsTheNumbersOfTheCsv) {
  auto ccl = attacked(cell("b", "ccl"), 0.1);
  ccl.swept = {{"defenses[1].alpha", "0.5"}};
  const auto results = results_of({attacked(cell("a", "none"), 1.0 / 3), ccl, cell("c", "x")});
  const auto json = results_json(results);
  const auto csv = results_csv(results);
  ASSERT_EQ(json["results"].size(), 3U);
  for (size_t i = 0; i < 3; ++i) {
    for (const auto& [column, field] : row(csv, i)) {
      const auto& value = json["results"][i].at(column);
      if (field.empty()) {
        EXPECT_TRUE(value.is_null()) << column;
      } else if (value.is_number()) {
        EXPECT_EQ(value.get<double>(), std::stod(field)) << column;
      } else {
        EXPECT_EQ(value, field) << column;
      }
    }
  }
  EXPECT_TRUE(json["results"][1]["defenses[1].alpha"].is_number());
}

TEST(ResultsJson, HoldsWhatTheCsvCannot) {
  auto results = results_of({attacked(cell("a", "none"), 0.5)});
  results.cells[0].metrics = {{"kkt.residual", 0.25, {}, {}, 40}};
  results.verdicts = {{"CCEL wins", "0.6", "0.5", "[0.4, 0.6]", "undecided", true}};
  results.notes = {"one note"};
  results.environment = {{"cpu", "epyc"}};
  const auto json = results_json(results);
  EXPECT_EQ(json["name"], "small");
  EXPECT_EQ(json["metrics"][0]["value"], 0.25);
  EXPECT_TRUE(json["metrics"][0]["low"].is_null());
  EXPECT_EQ(json["verdicts"][0]["verdict"], "undecided");
  EXPECT_EQ(json["verdicts"][0]["scaled"], true);
  EXPECT_EQ(json["notes"][0], "one note");
  EXPECT_EQ(json["environment"]["cpu"], "epyc");
  EXPECT_EQ(json["attacks"]["loss"], "probabilities");
}

Results two_settings() {
  auto ccl = attacked(cell("b", "ccl"), 0.25);
  ccl.swept = {{"defenses[1].alpha", "0.5"}};
  return results_of({attacked(cell("a", "none"), 0.5), ccl});
}

TEST(ConsoleTable, AlignsItsColumnsAndSaysWhatTheIntervalsMean) {
  EXPECT_EQ(
      console_table(two_settings(), 120),
      "defense  setting    train  test   advantage             attack  AUC    TPR@1%FPR  P1\n"
      "-------  ---------  -----  -----  --------------------  ------  -----  ---------  "
      "--------------------\n"
      "none                1.000  0.625  0.500 (0.450, 0.550)  loss    0.800  0.100      "
      "0.600 (0.570, 0.630)\n"
      "ccl      alpha=0.5  1.000  0.625  0.250 (0.200, 0.300)  loss    0.800  0.100      "
      "0.600 (0.570, 0.630)\n"
      "The strongest attack of each row. (low, high): 95 % interval over the records of one model; "
      "it says nothing about\nanother seed.\n");
}

TEST(ConsoleTable, LeavesOutTheLeastImportantColumnsWhereTheTerminalIsNarrow) {
  EXPECT_EQ(lines(console_table(two_settings(), 79))[0],
            "defense  setting    test   advantage             attack  P1");
  EXPECT_EQ(lines(console_table(two_settings(), 10))[0], "defense  setting    test   advantage");
  for (const auto& line : lines(console_table(two_settings(), 79))) EXPECT_LE(line.size(), 79U);
}

TEST(ConsoleTable, TakesTheSeedsOfASettingTogether) {
  // Advantages 0.4 and 0.6: mean 0.5, standard error 0.1, Student's quantile 12.706.
  const auto text = console_table(
      results_of({attacked(cell("a", "none", 0), 0.4), attacked(cell("b", "none", 1), 0.6)}), 120);
  EXPECT_EQ(lines(text).size(), 4U);
  EXPECT_NE(text.find("0.500 [-0.771, 1.771]"), std::string::npos) << text;
  EXPECT_NE(text.find("[low, high]: 95 % Student interval of the mean over seeds."),
            std::string::npos);
}

TEST(ConsoleTable, ShowsTheStrongestAttackAndMarksTooFewRecords) {
  auto one = attacked(cell("a", "none"), 0.25);
  one.attacks.push_back(table_attack("neural", 0.5));
  one.attacks[1].score.tpr_at[1].enough = false;
  const auto text = console_table(results_of({one}), 120);
  EXPECT_NE(text.find("neural"), std::string::npos);
  EXPECT_NE(text.find("n too small"), std::string::npos);
}

TEST(ConsoleTable, SaysThatNothingHasFinished) {
  EXPECT_EQ(console_table({}, 80), "No cell has finished.\n");
}

}  // namespace
}  // namespace imprint::tables_test
