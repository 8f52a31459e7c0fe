#include <fmt/format.h>

#include <algorithm>

#include "framework/reports/figures.h"

namespace imprint {
namespace {

using nlohmann::json;

json stage_values(const std::vector<Stage>& stages) {
  json values = json::array();
  for (const auto& stage : stages) {
    json row = {{"setting", stage.setting},
                {"attack", stage.attack},
                {"shadows", stage.shadows},
                {"value", stage.value}};
    if (stage.low) row["low"] = *stage.low;
    if (stage.high) row["high"] = *stage.high;
    values.push_back(std::move(row));
  }
  return values;
}

}  // namespace

Drawing stage_drawing(const Results& results) {
  Drawing drawing;
  if (results.stages.empty()) return drawing;
  const auto metric = column_title(results.stages.front().metric);
  drawing.name = "shadows_added";
  drawing.title = fmt::format("{} against the number of shadows", metric);
  drawing.caption =
      "Shadows were added, two, four, eight and so on, until the interval was narrow enough or "
      "there were as many as allowed. Bars: 95 % intervals over targets or seeds, with one of each "
      "over records. Point at a mark for its numbers.";
  json x = {{"field", "shadows"},
            {"type", "quantitative"},
            {"title", "shadows per target"},
            {"scale", {{"type", "log"}, {"base", 2}}}};
  json y = {{"field", "value"}, {"type", "quantitative"}, {"title", metric}};
  json color = {{"field", "attack"}, {"type", "nominal"}, {"title", nullptr}};
  auto low = y;
  low["field"] = "low";
  const json tip = json::array({{{"field", "attack"}, {"type", "nominal"}},
                                {{"field", "shadows"}, {"type", "quantitative"}},
                                {{"field", "value"}, {"type", "quantitative"}, {"format", ".4f"}},
                                {{"field", "low"}, {"type", "quantitative"}, {"format", ".4f"}},
                                {{"field", "high"}, {"type", "quantitative"}, {"format", ".4f"}}});
  const json layers = json::array(
      {{{"mark", {{"type", "rule"}, {"opacity", 0.5}}},
        {"encoding", {{"x", x}, {"y", low}, {"y2", {{"field", "high"}}}, {"color", color}}}},
       {{"mark", {{"type", "line"}, {"strokeWidth", 2}}},
        {"encoding", {{"x", x}, {"y", y}, {"color", color}}}},
       {{"mark", {{"type", "point"}, {"filled", true}, {"size", 65}}},
        {"encoding", {{"x", x}, {"y", y}, {"color", color}, {"tooltip", tip}}}}});
  drawing.spec = figure_frame(stage_values(results.stages));
  std::vector<std::string> settings;
  for (const auto& stage : results.stages)
    if (std::find(settings.begin(), settings.end(), stage.setting) == settings.end())
      settings.push_back(stage.setting);
  const auto place = layout(settings.size());
  const json panel = {{"width", place.width}, {"height", place.height}, {"layer", layers}};
  if (settings.size() == 1) {
    drawing.spec.update(panel);
    return drawing;
  }
  drawing.spec["facet"] = {{"field", "setting"}, {"type", "nominal"}, {"title", nullptr}};
  drawing.spec["columns"] = place.columns;
  drawing.spec["spec"] = panel;
  return drawing;
}

}  // namespace imprint
