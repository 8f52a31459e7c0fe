#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "framework/reports/course.h"
#include "framework/reports/figures.h"
#include "framework/reports/tables.h"

namespace imprint {
namespace {

using nlohmann::json;

std::string in_words(const json& value, const Spread& spread) {
  if (!value.is_number()) return value.is_string() ? value.get<std::string>() : "";
  auto text = decimals(value.get<double>());
  if (spread.records) text += fmt::format(", records [{}]", decimals(*spread.records));
  if (spread.repeats) text += fmt::format(", {} [{}]", spread.over, decimals(*spread.repeats));
  return text;
}

void put_ends(json& row, const std::string& name, const std::optional<Interval>& interval) {
  if (!interval) return;
  row[name + "_low"] = interval->low;
  row[name + "_high"] = interval->high;
}

json data_of(const std::vector<CurvePoint>& points) {
  json values = json::array();
  for (const auto& point : points) {
    json row = {{"panel", point.panel},
                {"group", point.group},
                {"strand", point.strand},
                {"order", point.order},
                {"undefended", point.undefended},
                {"setting", point.setting},
                {"attack", point.attack},
                {"n", point.counts},
                {"x", point.x},
                {"y", point.y},
                {"x_text", in_words(point.x, point.x_spread)},
                {"y_text", in_words(point.y, point.y_spread)}};
    put_ends(row, "x_records", point.x_spread.records);
    put_ends(row, "x_repeats", point.x_spread.repeats);
    put_ends(row, "y_records", point.y_spread.records);
    put_ends(row, "y_repeats", point.y_spread.repeats);
    values.push_back(std::move(row));
  }
  return values;
}

json channel(const json& values, const std::string& axis, const std::string& column) {
  const bool text = std::any_of(values.begin(), values.end(),
                                [&](const json& row) { return row[axis].is_string(); });
  json result = {{"field", axis}, {"title", column_title(column)}};
  result["type"] = text ? "nominal" : "quantitative";
  if (text) return result;
  result["scale"] = {{"domain", axis_domain(values, axis)}, {"nice", false}, {"zero", false}};
  result["axis"] = {{"tickCount", 5}, {"gridOpacity", 0.5}};
  return result;
}

json undefended_rule(const json& channels, const std::string& axis) {
  return {
      {"transform", json::array({{{"filter", "datum.undefended && datum." + axis + " !== null"}}})},
      {"mark",
       {{"type", "rule"},
        {"strokeDash", {2, 3}},
        {"strokeWidth", 1.5},
        {"color", "#767676"},
        {"clip", true}}},
      {"encoding", {{axis, channels[axis]}}}};
}

/// One error bar per point along `axis`, shown while the reader's choice is `kind`.
json bars(const json& channels, const std::string& axis, const std::string& kind) {
  const auto low = axis + "_" + kind + "_low", high = axis + "_" + kind + "_high";
  auto along = channels[axis];
  along["field"] = low;
  const std::string across = axis == "x" ? "y" : "x";
  return {
      {"transform",
       json::array({{{"filter", fmt::format("bars == '{}' && isValid(datum.{})", kind, low)}}})},
      {"mark", {{"type", "rule"}, {"opacity", axis == "y" ? 0.7 : 0.4}, {"clip", true}}},
      {"encoding",
       {{axis, along},
        {axis + "2", {{"field", high}}},
        {across, channels[across]},
        {"color", channels["color"]}}}};
}

json tooltip(const Figure& figure) {
  json fields = {{{"field", "setting"}, {"title", "setting"}},
                 {{"field", "x_text"}, {"title", column_title(figure.x)}},
                 {{"field", "y_text"}, {"title", column_title(figure.y)}},
                 {{"field", "n"}, {"title", "n"}}};
  if (depends_on_attack(figure.y)) fields.push_back({{"field", "attack"}, {"title", "attack"}});
  for (auto& field : fields) field["type"] = "nominal";
  return fields;
}

json layers(const json& channels, const Figure& figure, const std::vector<std::string>& kinds) {
  json list = json::array();
  for (const auto* axis : {"y", "x"}) list.push_back(undefended_rule(channels, axis));
  for (const auto& kind : kinds) {
    for (const auto* axis : {"y", "x"}) {
      if (channels[axis]["type"] == "quantitative") list.push_back(bars(channels, axis, kind));
    }
  }
  json line = {{"x", channels["x"]},
               {"y", channels["y"]},
               {"color", channels["color"]},
               {"order", {{"field", "order"}, {"type", "quantitative"}}},
               {"detail", {{"field", "strand"}, {"type", "nominal"}}}};
  json point = {{"x", channels["x"]},
                {"y", channels["y"]},
                {"color", channels["color"]},
                {"shape", channels["shape"]},
                {"tooltip", tooltip(figure)}};
  list.push_back(
      {{"mark", {{"type", "line"}, {"strokeWidth", 2}, {"opacity", 0.8}}}, {"encoding", line}});
  list.push_back({{"mark", {{"type", "point"}, {"filled", true}, {"size", 65}, {"opacity", 1}}},
                  {"encoding", point}});
  return list;
}

template <typename Member>
std::vector<std::string> distinct(const std::vector<CurvePoint>& points, Member member) {
  std::vector<std::string> values;
  for (const auto& point : points) {
    const auto& value = point.*member;
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  return values;
}

/// What the bars can show: records first where seeds are too few for a useful interval.
std::vector<std::string> bar_kinds(const std::vector<CurvePoint>& points) {
  int64_t repetitions = 1;
  bool records = false;
  for (const auto& point : points) {
    repetitions = std::max(repetitions, point.y_spread.repetitions);
    records |= point.y_spread.records.has_value();
  }
  std::vector<std::string> kinds;
  if (records) kinds.emplace_back("records");
  if (repetitions > 1) kinds.insert(repetitions > 2 ? kinds.begin() : kinds.end(), "repeats");
  return kinds;
}

json bars_choice(const std::vector<std::string>& kinds, const std::string& over) {
  json options = kinds, labels = json::array();
  options.push_back("none");
  for (const auto& kind : kinds)
    labels.push_back(kind == "records" ? "over records" : "over " + over);
  labels.push_back("none");
  return {
      {"name", "bars"},
      {"value", options.front()},
      {"bind",
       {{"input", "radio"}, {"options", options}, {"labels", labels}, {"name", "Error bars: "}}}};
}

json curve_spec(const std::vector<CurvePoint>& points, const Figure& figure, const Results& all) {
  const auto panels = distinct(points, &CurvePoint::panel);
  const auto groups = distinct(points, &CurvePoint::group);
  const auto kinds = bar_kinds(points);
  const auto place = layout(panels.size());
  const auto values = data_of(points);
  auto channels = style_encoding("group", groups, styles(all, figure.group, groups));
  channels["x"] = channel(values, "x", figure.x);
  channels["y"] = channel(values, "y", figure.y);
  if (figure.x == "epoch" && thins_out(points)) channels["x"]["scale"] = {{"type", "log"}};
  auto spec = figure_frame(values);
  if (!kinds.empty()) spec["params"] = json::array({bars_choice(kinds, repeated_over(points))});
  json panel = {
      {"width", place.width}, {"height", place.height}, {"layer", layers(channels, figure, kinds)}};
  if (panels.size() == 1) {
    spec.update(panel);
    if (!panels.front().empty()) spec["title"] = panels.front();
    return spec;
  }
  spec["facet"] = {{"field", "panel"}, {"type", "nominal"}, {"title", nullptr}, {"sort", panels}};
  spec["columns"] = place.columns;
  spec["spec"] = panel;
  spec["resolve"] = {{"axis", {{"x", "independent"}, {"y", "independent"}}}};
  return spec;
}

/// Panels by attack would all show the same where nothing in the figure depends on the attack.
Figure without_idle_panels(Figure figure) {
  const bool needed =
      depends_on_attack(figure.x) || depends_on_attack(figure.y) || depends_on_attack(figure.group);
  if (depends_on_attack(figure.panel) && !needed) figure.panel.clear();
  return figure;
}

std::string caption(const std::vector<CurvePoint>& points, bool over_epochs) {
  const auto over = repeated_over(points);
  const bool attacks = points.size() > 1 && distinct(points, &CurvePoint::setting).size() == 1;
  std::string text = over_epochs ? "Each line is the training of a setting"
                     : attacks   ? "Each point is an attack"
                                 : "Each point is a setting";
  if (!over.empty()) text += fmt::format(", averaged over {}", over);
  text += attacks || over_epochs ? "." : "; a line joins the values of a sweep in their order.";
  if (std::any_of(points.begin(), points.end(),
                  [](const auto& point) { return point.undefended; })) {
    text += " Dotted lines: the undefended model.";
  }
  for (const auto& kind : bar_kinds(points)) {
    text += kind == "records"
                ? " Bars over records: 95 % intervals given one model."
                : fmt::format(
                      " Bars over {}: Student's 95 % intervals of the mean, very wide for "
                      "two; what leaves the panel is cut.",
                      over);
  }
  return text + " Point at a mark for its numbers.";
}

}  // namespace

Drawing curve_drawing(const Results& scene, const Figure& asked, const Results& all) {
  const auto figure = without_idle_panels(asked);
  Drawing drawing;
  drawing.name = fmt::format("{}_against_{}", figure.y, figure.x);
  drawing.title = fmt::format("{} against {}", column_title(figure.y), column_title(figure.x));
  const auto unknown = unknown_columns(all, asked);
  if (!unknown.empty()) {
    drawing.caption =
        fmt::format("Not drawn: '{}' is neither a column of results.csv nor a metric of this run.",
                    fmt::join(unknown, "' and '"));
    return drawing;
  }
  const bool over_epochs = figure.x == "epoch";
  const auto points = over_epochs ? epoch_points(scene, figure) : curve_points(scene, figure);
  if (points.empty()) {
    drawing.caption = fmt::format("Not drawn: no cell has both '{}' and '{}'.", asked.x, asked.y);
    return drawing;
  }
  drawing.caption = caption(points, over_epochs);
  drawing.spec = curve_spec(points, figure, all);
  return drawing;
}

}  // namespace imprint
