#include "framework/reports/html.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>

#include "framework/reports/course.h"
#include "framework/reports/figures.h"

namespace imprint::html_test {
namespace {

using nlohmann::json;

AttackResult attack(const std::string& name, double advantage) {
  AttackResult result;
  result.attack = name;
  result.threat = "sees what " + name + " needs";
  auto& score = result.score;
  score.members = score.non_members = 200;
  score.advantage = advantage;
  score.advantage_interval = {advantage - 0.05, advantage + 0.05};
  score.auc = 0.8;
  score.tpr_at = {{0.001, 0, 0.005, 1, 200, {0, 0.03}, false},
                  {0.01, 0.01, 0.1, 20, 200, {0.06, 0.15}, true},
                  {0.1, 0.1, 0.4, 80, 200, {0.33, 0.47}, true}};
  result.roc = {{1e9, 0.9, 0.5, 0}, {0, 0.005, 0.1, 1}, {0, 0.1, 0.4, 1}};
  return result;
}

CellResult cell(const std::string& defense, const std::string& alpha, double accuracy,
                double advantage) {
  CellResult result;
  result.id = defense + alpha;
  result.data = "location30";
  result.model = "mlp";
  result.defense = result.label = defense;
  if (!alpha.empty()) result.swept = {{"defenses[1].alpha", alpha}};
  result.train_accuracy = 1;
  result.test_accuracy = accuracy;
  result.test_accuracy_interval = {accuracy - 0.03, accuracy + 0.03};
  result.attacks = {attack("loss", advantage), attack("neural", advantage / 2)};
  result.p1_cell = CellP1{0.6, "loss", {0.57, 0.63}};
  result.metrics = {{"kkt.residual", advantage * 2, {}, {}, 40}};
  return result;
}

/// Undefended, and ccl with alpha 0.5, 10 and 2 in this order of appearance.
Results small() {
  Results results;
  results.name = "small";
  results.cells = {cell("none", "", 0.6, 0.5), cell("ccl", "0.5", 0.58, 0.2),
                   cell("ccl", "10", 0.62, 0.4), cell("ccl", "2", 0.61, 0.3)};
  return results;
}

const char* const kBundle = "window.vegaEmbed = () => '</script><!--';";

std::string page(const Results& results) { return html_report(results, kBundle); }

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

size_t occurrences(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

/// The rows of a specification's data for which `field` is `value`.
std::vector<json> rows_where(const json& spec, const std::string& field, const std::string& value) {
  std::vector<json> rows;
  for (const auto& row : spec["data"]["values"]) {
    if (row[field] == value) rows.push_back(row);
  }
  return rows;
}

json curves(const Results& results) { return figure_specs(results).at(0).second; }

TEST(HtmlReport, FetchesNothingFromTheNetwork) {
  const auto html = page(small());
  EXPECT_FALSE(std::regex_search(html, std::regex("(src|href)\\s*=\\s*[\"']?\\s*(https?:)?//")));
  EXPECT_FALSE(holds(html, "@import"));
  EXPECT_FALSE(holds(html, "<link"));
  EXPECT_TRUE(holds(html, "default-src 'none'"));
}

TEST(HtmlReport, InlinesTheBundleOnceWithoutEndingItsScriptEarly) {
  const auto html = page(small());
  EXPECT_EQ(occurrences(html, "window.vegaEmbed = () => '<\\/script>\\x3C!--';"), 1U);
  EXPECT_EQ(occurrences(html, "<script"), occurrences(html, "</script>"));
}

TEST(HtmlReport, EscapesWhateverTheUserWrote) {
  const std::string evil = "<script>alert(1)</script>";
  auto results = small();
  results.name = results.config = evil;
  results.notes = {evil};
  results.environment = {{"cpu", evil}};
  results.verdicts = {{evil, evil, evil, evil, evil, true}};
  for (auto& each : results.cells) {
    each.id = each.label = evil;
    each.swept = {{evil, evil}};
    each.metrics = {{evil, 1, {}, {}, {}}};
    for (auto& one : each.attacks) one.attack = one.threat = evil;
  }
  const auto html = page(results);
  EXPECT_FALSE(holds(html, "<script>alert"));
  EXPECT_TRUE(holds(html, "<h1>&lt;script&gt;alert(1)&lt;/script&gt;</h1>"));
}

TEST(HtmlReport, EscapesJsonForScripts) {
  EXPECT_EQ(script_json({"</script>", "\u2028"}), "[\"\\u003c/script>\",\"\\u2028\"]");
}

TEST(HtmlReport, MarksRatesThatTooFewRecordsCannotResolve) {
  const auto html = page(small());
  EXPECT_EQ(occurrences(html, ">n too small</td>"), 8U);  // at 0.001: 4 cells with 2 attacks each
  EXPECT_TRUE(holds(html, "<th scope=\"col\">best threshold (optimistic)</th>"));
}

TEST(HtmlReport, ShowsVerdictsNotesThreatsAndConfigurationWhereThereAreAny) {
  auto results = small();
  EXPECT_FALSE(holds(page(results), "<h2>Claims</h2>"));
  EXPECT_FALSE(holds(page(results), "<ul class=\"notes\">"));
  results.verdicts = {{"CCEL wins", "0.6", "0.5", "[0.4, 0.6]", "holds", true}};
  results.notes = {"mixed CPUs"};
  results.config = "name: small";
  const auto html = page(results);
  EXPECT_TRUE(holds(html, "<td class=\"verdict holds\">holds<span class=\"scaled\">scaled</span>"));
  EXPECT_TRUE(holds(html, "<li>mixed CPUs</li>"));
  EXPECT_TRUE(holds(html, "<dt>loss</dt><dd>sees what loss needs</dd>"));
  EXPECT_TRUE(holds(html, "<pre>name: small</pre>"));
}

TEST(HtmlReport, SaysWhenAFigureNamesAnUnknownColumn) {
  auto results = small();
  results.figures = {{"test_acuracy", "advantage", "label", "attack"}};
  EXPECT_TRUE(holds(page(results),
                    "<p class=\"warning\">Not drawn: &#39;test_acuracy&#39; is neither a column of "
                    "results.csv nor a metric of this run.</p>"));
  EXPECT_EQ(figure_specs(results).size(), 1U);  // only the ROC curves
}

TEST(HtmlReport, IsAPageEvenWithoutCells) {
  EXPECT_TRUE(holds(page({}), "No cell has finished: there is nothing to say."));
}

TEST(Findings, NameTheStrongestAttackAndTheBestDefenseThatCostsNoAccuracy) {
  EXPECT_EQ(findings(small()).at(0),
            "location30 with mlp: the undefended model reaches a test accuracy of 0.600 (95 % over "
            "records: 0.570 to 0.630). The strongest of 2 attacks is loss, with a membership "
            "advantage of 0.500 (95 % over records: 0.450 to 0.550), on 200 members and 200 "
            "non-members and one seed. Of 3 defended settings, 2 are no less accurate; of these "
            "ccl (alpha=2) leaks least: test accuracy 0.610, advantage 0.300 (95 % over records: "
            "0.250 to 0.350) with loss as its strongest attack. (Chosen on these same numbers, so "
            "a little flattering.)");
}

TEST(Findings, SayWhatIsAbsent) {
  auto results = small();
  results.cells.erase(results.cells.begin());
  EXPECT_TRUE(holds(findings(results).at(0), "No undefended model is among the results"));
  for (auto& each : results.cells) each.attacks.clear();
  EXPECT_TRUE(holds(findings(results).at(0), "No attack was run."));
}

TEST(FigureSpecs, AllHaveDataAndNeedNoOther) {
  const auto specs = figure_specs(small());
  ASSERT_EQ(specs.size(), 2U);
  EXPECT_EQ(specs[0].first, "advantage_against_test_accuracy");
  EXPECT_EQ(specs[1].first, "roc");
  for (const auto& [name, spec] : specs) {
    EXPECT_GT(spec["data"]["values"].size(), 0U) << name;
    EXPECT_FALSE(holds(spec.dump(), "\"url\"")) << name;
  }
}

TEST(FigureSpecs, JoinPointsInTheNumericOrderOfTheSweptValue) {
  auto rows = rows_where(curves(small()), "group", "ccl");
  std::sort(rows.begin(), rows.end(), [](auto& a, auto& b) { return a["order"] < b["order"]; });
  ASSERT_EQ(rows.size(), 6U);  // three settings in two panels
  EXPECT_EQ(rows[0]["setting"], "ccl (alpha=0.5)");
  EXPECT_EQ(rows[2]["setting"], "ccl (alpha=2)");
  EXPECT_EQ(rows[4]["setting"], "ccl (alpha=10)");
}

TEST(FigureSpecs, DrawDottedLinesAtTheUndefendedModel) {
  const auto spec = curves(small());
  std::set<std::string> directions;
  for (const auto& layer : spec["spec"]["layer"]) {
    if (!layer["mark"].contains("strokeDash")) continue;
    EXPECT_EQ(layer["mark"]["type"], "rule");
    EXPECT_TRUE(holds(layer["transform"][0]["filter"], "datum.undefended"));
    for (const auto& [channel, value] : layer["encoding"].items()) directions.insert(channel);
  }
  EXPECT_EQ(directions, (std::set<std::string>{"x", "y"}));
  size_t undefended = 0;
  for (const auto& row : spec["data"]["values"]) undefended += row["undefended"] == true;
  EXPECT_EQ(undefended, 2U);  // once per panel
}

TEST(FigureSpecs, AverageSeedsAndKeepBothIntervals) {
  auto results = small();
  results.cells = {cell("none", "", 0.5, 0.4), cell("none", "", 0.7, 0.6)};
  results.cells[1].seed = 1;
  results.figures = {{}};
  const auto rows = rows_where(curves(results), "panel", "loss");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_DOUBLE_EQ(rows[0]["x"], 0.6);
  EXPECT_DOUBLE_EQ(rows[0]["y"], 0.5);
  EXPECT_DOUBLE_EQ(rows[0]["y_records_low"], 0.45);
  EXPECT_NEAR(rows[0]["y_repeats_low"], 0.5 - 12.706 * 0.1, 1e-3);
  EXPECT_EQ(rows[0]["n"], "200 members, 200 non-members, 2 seeds");
}

TEST(FigureSpecs, DrawMetricsAndSweptKeysWithOnePanelWhereNoAttackMatters) {
  auto results = small();
  results.figures = {{"defenses[1].alpha", "kkt.residual", "label", "attack"}};
  const auto spec = curves(results);
  EXPECT_FALSE(spec.contains("facet"));
  const auto rows = rows_where(spec, "setting", "ccl (alpha=10)");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0]["x"], 10);
  EXPECT_DOUBLE_EQ(rows[0]["y"], 0.8);
}

TEST(FigureSpecs, DrawTrainingsEpochByEpoch) {
  auto results = small();
  results.cells = {cell("none", "", 0.5, 0.4), cell("none", "", 0.7, 0.6),
                   cell("ccl", "2", 0.6, 0.3)};
  results.cells[1].seed = 1;
  results.cells[0].course = {{10, "test_accuracy", 0.4}, {20, "test_accuracy", 0.5}};
  results.cells[1].course = {{10, "test_accuracy", 0.6}, {20, "training_loss", 0.1}};
  results.cells[2].course = {{20, "test_accuracy", 0.6}};
  results.figures = {{"epoch", "test_accuracy", "label", "attack"}};
  const auto spec = curves(results);
  EXPECT_FALSE(spec.contains("facet"));
  const auto rows = rows_where(spec, "group", "none");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["x"], 10);
  EXPECT_DOUBLE_EQ(rows[0]["y"], 0.5);
  EXPECT_EQ(rows[0]["n"], "2 seeds");
  EXPECT_EQ(rows[1]["x"], 20);
  EXPECT_DOUBLE_EQ(rows[1]["y"], 0.5);
  EXPECT_EQ(rows_where(spec, "group", "ccl").size(), 1U);
  // A scalar that no training has is named.
  results.figures = {{"epoch", "kkt.residual", "label", "attack"}};
  EXPECT_TRUE(holds(drawings(results)[0].caption, "Not drawn: 'kkt.residual'"));
}

TEST(FigureSpecs, SetTheAttacksOnASingleSettingSideBySide) {
  Results results;
  results.cells = {cell("none", "", 0.6, 0.5)};
  results.cells[0].attacks[1].score.auc = 0.9;
  const auto drawing = drawings(results).at(0);
  EXPECT_EQ(drawing.name, "attacks_compared");
  const auto rows = rows_where(drawing.spec, "metric", "AUC");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["attack"], "neural");
  EXPECT_DOUBLE_EQ(rows[0]["value"], 0.9);
  const auto low = rows_where(drawing.spec, "metric", "TPR at FPR 0.01");
  ASSERT_EQ(low.size(), 2U);
  EXPECT_DOUBLE_EQ(low[0]["value"], 0.1);
  EXPECT_DOUBLE_EQ(low[0]["high"], 0.15);
  EXPECT_DOUBLE_EQ(rows_where(drawing.spec, "metric", "membership advantage")[1]["value"], 0.5);
  // Who asks for a figure gets that one.
  results.figures = {{}};
  EXPECT_EQ(drawings(results).at(0).name, "advantage_against_test_accuracy");
}

TEST(Course, ConvergesWhereTheAccuracyComesNearItsLast) {
  const std::vector<EpochResult> course{{10, "test_accuracy", 0.5},
                                        {20, "test_accuracy", 0.77},
                                        {30, "training_loss", 0.1},
                                        {40, "test_accuracy", 0.8}};
  EXPECT_EQ(share_to_converge(course), 0.5);  // 0.77 is above 0.95 times 0.8
  EXPECT_FALSE(share_to_converge({course.front()}).has_value());
}

TEST(FigureSpecs, GiveALabelOneColourInAllFigures) {
  auto results = small();
  results.cells.push_back(cell("dropout", "", 0.55, 0.1));
  const auto all = styles(results, "label", {"none", "ccl", "dropout"});
  EXPECT_EQ(styles(results, "label", {"dropout"})[0].color, all[2].color);
  EXPECT_EQ(styles(results, "defense", {"dropout"})[0].color, all[2].color);
  EXPECT_NE(all[0].color, all[1].color);
  EXPECT_NE(all[1].color, all[2].color);
}

TEST(FigureSpecs, DrawEachDataSetAndModelForItself) {
  auto results = small();
  results.cells.push_back(cell("none", "", 0.9, 0.1));
  results.cells.back().data = "purchase100";
  std::vector<std::string> names;
  for (const auto& [name, spec] : figure_specs(results)) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"advantage_against_test_accuracy_location30_mlp",
                                             "advantage_against_test_accuracy_purchase100_mlp",
                                             "roc_location30_mlp", "roc_purchase100_mlp"}));
}

TEST(RocFigure, EndsWhereOneFalseAlarmIsAndTakesEachLabelAtItsBestP1) {
  auto results = small();
  results.cells[3].p1_cell->value = 0.7;
  const auto spec = figure_specs(results).at(1).second;
  std::set<std::string> settings;
  double least = 1;
  for (const auto& row : spec["data"]["values"]) {
    settings.insert(row["setting"]);
    least = std::min(least, row["fpr"].get<double>());
  }
  EXPECT_EQ(settings, (std::set<std::string>{"none", "ccl (alpha=2)"}));
  EXPECT_DOUBLE_EQ(least, 1.0 / 200);
  EXPECT_EQ(spec["spec"]["layer"][1]["encoding"]["x"]["scale"]["domain"], json({1.0 / 200, 1}));
}

}  // namespace
}  // namespace imprint::html_test
