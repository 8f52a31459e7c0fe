#include <algorithm>

#include "framework/reports/figures.h"
#include "framework/reports/summary.h"

namespace imprint {
namespace {

using nlohmann::json;

constexpr double kLowRate = 0.01;

void put(json& values, const std::string& attack, const std::string& column,
         const std::optional<Spread>& spread) {
  if (!spread) return;
  json row = {{"attack", attack}, {"metric", column_title(column)}, {"value", spread->mean}};
  if (const auto interval = spread->repeats ? spread->repeats : spread->records) {
    row["low"] = interval->low;
    row["high"] = interval->high;
  }
  values.push_back(std::move(row));
}

std::optional<Spread> tpr_at_low_rate(const AttackSummary& attack) {
  const auto& rates = reported_fprs();
  const auto at = std::find(rates.begin(), rates.end(), kLowRate) - rates.begin();
  return static_cast<size_t>(at) < attack.tpr_at.size() ? attack.tpr_at[static_cast<size_t>(at)]
                                                        : std::nullopt;
}

json axis_of_values(const char* field) {
  return {{"field", field},
          {"type", "quantitative"},
          {"title", nullptr},
          {"scale", {{"zero", false}, {"nice", true}}}};
}

}  // namespace

Drawing attack_drawing(const Results& results) {
  Drawing drawing;
  const auto rows = summarise(results);
  if (rows.size() != 1 || rows.front().attacks.size() < 2) return drawing;
  auto attacks = rows.front().attacks;
  std::stable_sort(attacks.begin(), attacks.end(),
                   [](const auto& a, const auto& b) { return a.auc.mean > b.auc.mean; });
  json values = json::array(), names = json::array();
  for (const auto& attack : attacks) {
    names.push_back(attack.attack);
    put(values, attack.attack, "auc", attack.auc);
    put(values, attack.attack, "tpr_at_0.01", tpr_at_low_rate(attack));
    put(values, attack.attack, "advantage", attack.advantage);
  }
  drawing.name = "attacks_compared";
  drawing.title = "what each attack finds";
  drawing.caption =
      "The attacks by their AUC. Bars: 95 % intervals, over seeds or targets where there are "
      "several, else over the records of the one model. Point at a mark for its numbers.";
  const json y = {{"field", "attack"}, {"type", "nominal"}, {"title", nullptr}, {"sort", names}};
  const json tip = json::array({{{"field", "attack"}, {"type", "nominal"}},
                                {{"field", "metric"}, {"type", "nominal"}},
                                {{"field", "value"}, {"type", "quantitative"}, {"format", ".4f"}},
                                {{"field", "low"}, {"type", "quantitative"}, {"format", ".4f"}},
                                {{"field", "high"}, {"type", "quantitative"}, {"format", ".4f"}}});
  const json layers = json::array(
      {{{"mark", {{"type", "rule"}, {"opacity", 0.6}}},
        {"encoding", {{"y", y}, {"x", axis_of_values("low")}, {"x2", {{"field", "high"}}}}}},
       {{"mark", {{"type", "point"}, {"filled", true}, {"size", 55}}},
        {"encoding", {{"y", y}, {"x", axis_of_values("value")}, {"tooltip", tip}}}}});
  const json order = {column_title("auc"), column_title("tpr_at_0.01"), column_title("advantage")};
  drawing.spec = figure_frame(std::move(values));
  drawing.spec["facet"]["column"] = {
      {"field", "metric"}, {"type", "nominal"}, {"title", nullptr}, {"sort", order}};
  drawing.spec["spec"] = {{"width", 270}, {"height", {{"step", 22}}}, {"layer", layers}};
  drawing.spec["resolve"] = {{"scale", {{"x", "independent"}}}};
  return drawing;
}

}  // namespace imprint
