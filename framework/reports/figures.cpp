#include "framework/reports/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>

#include "framework/reports/curve_points.h"

namespace imprint {
namespace {

using nlohmann::json;

// Okabe and Ito 2008, without black (the text) and yellow (too pale on white).
constexpr const char* kColors[] = {"#0072B2", "#D55E00", "#009E73",
                                   "#CC79A7", "#E69F00", "#56B4E9"};
constexpr const char* kShapes[] = {"circle", "square", "triangle-up", "cross", "triangle-down"};
constexpr const char* kUndefendedColor = "#767676";

/// Colours and shapes have different periods, so that many labels still differ in one of them.
Style style_of(size_t index) {
  static const std::vector<int> dashes[] = {{1, 0}, {7, 3}, {3, 3}};
  return {kColors[index % std::size(kColors)], kShapes[index % std::size(kShapes)],
          dashes[index / std::size(kColors) % std::size(dashes)]};
}

/// Labels of defended cells by first appearance, each with its defense.
std::vector<std::pair<std::string, std::string>> defended_labels(const Results& results) {
  std::vector<std::pair<std::string, std::string>> labels;
  for (const auto& cell : results.cells) {
    const auto known = [&](const auto& entry) { return entry.first == cell.label; };
    if (cell.defense == "none" || std::any_of(labels.begin(), labels.end(), known)) continue;
    labels.emplace_back(cell.label, cell.defense);
  }
  return labels;
}

bool names_undefended(const Results& results, const std::string& column, const std::string& value) {
  if (column == "defense") return value == "none";
  return column == "label" &&
         std::any_of(results.cells.begin(), results.cells.end(), [&](const CellResult& cell) {
           return cell.label == value && cell.defense == "none";
         });
}

/// Splits by data set and model, except where the figure itself shows them.
std::vector<Results> scenes(const Results& results, const std::set<std::string>& shown) {
  std::map<std::pair<std::string, std::string>, size_t> index;
  std::vector<Results> parts;
  for (const auto& cell : results.cells) {
    const std::pair key{shown.contains("data") ? "" : cell.data,
                        shown.contains("model") ? "" : cell.model};
    const auto [place, fresh] = index.emplace(key, parts.size());
    if (fresh) parts.emplace_back();
    parts[place->second].cells.push_back(cell);
  }
  return parts;
}

std::string file_name(std::string text) {
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (!(byte < 128 && (std::isalnum(byte) || c == '.' || c == '-'))) c = '_';
  }
  return text;
}

/// Adds what the scene is where there are several, and makes the name unique.
void add(std::vector<Drawing>& list, Drawing drawing, const Results& scene, bool several) {
  if (several && !scene.cells.empty()) {
    const auto& cell = scene.cells.front();
    drawing.title += fmt::format(" ({}, {})", cell.data, cell.model);
    drawing.name += fmt::format("_{}_{}", cell.data, cell.model);
  }
  drawing.name = file_name(drawing.name);
  const auto base = drawing.name;
  const auto taken = [&](const Drawing& other) { return other.name == drawing.name; };
  for (int copy = 2; std::any_of(list.begin(), list.end(), taken); ++copy) {
    drawing.name = fmt::format("{}_{}", base, copy);
  }
  list.push_back(std::move(drawing));
}

}  // namespace

std::vector<Style> styles(const Results& results, const std::string& column,
                          const std::vector<std::string>& values) {
  const auto labels = defended_labels(results);
  std::vector<Style> result;
  for (const auto& value : values) {
    if (names_undefended(results, column, value)) {
      result.push_back({kUndefendedColor, "diamond", {1, 0}});
      continue;
    }
    const auto found = std::find_if(labels.begin(), labels.end(), [&](const auto& entry) {
      return (column == "label" && entry.first == value) ||
             (column == "defense" && entry.second == value);
    });
    const auto known = found != labels.end();
    result.push_back(style_of(known ? static_cast<size_t>(found - labels.begin()) : result.size()));
  }
  return result;
}

json style_encoding(const std::string& field, const std::vector<std::string>& names,
                    const std::vector<Style>& styles) {
  json colors = json::array(), shapes = json::array(), dashes = json::array();
  for (const auto& style : styles) {
    colors.push_back(style.color);
    shapes.push_back(style.shape);
    dashes.push_back(style.dash);
  }
  size_t longest = 1;
  for (const auto& name : names) longest = std::max(longest, name.size());
  const auto columns = std::clamp<size_t>(1000 / (8 * longest + 40), 1, 7);
  const auto channel = [&](const json& range) {
    return json{{"field", field},
                {"type", "nominal"},
                {"title", nullptr},
                {"legend", {{"columns", columns}}},
                {"scale", {{"domain", names}, {"range", range}}}};
  };
  return {{"color", channel(colors)}, {"shape", channel(shapes)}, {"strokeDash", channel(dashes)}};
}

std::string column_title(const std::string& column) {
  if (column == "advantage") return "membership advantage";
  if (column == "advantage_best") return "advantage at the best threshold (optimistic)";
  if (column == "auc") return "AUC";
  if (column == "p1") return "P1";
  if (column == "p1_cell") return "P1 with the strongest attack";
  if (column == "test_accuracy") return "test accuracy";
  if (column == "train_accuracy") return "train accuracy";
  if (column.starts_with("tpr_at_")) return "TPR at FPR " + column.substr(7);
  return column;
}

json axis_domain(const json& values, const std::string& axis) {
  double low = 1e300, high = -1e300, far_low = 1e300, far_high = -1e300;
  for (const auto& row : values) {
    if (!row[axis].is_number()) continue;
    const double at = row[axis];
    low = std::min({low, at, row.value(axis + "_records_low", at)});
    high = std::max({high, at, row.value(axis + "_records_high", at)});
    far_low = std::min(far_low, row.value(axis + "_repeats_low", at));
    far_high = std::max(far_high, row.value(axis + "_repeats_high", at));
  }
  const double range = high > low ? high - low : std::max(std::abs(high), 1e-3) * 0.2;
  const bool near_zero = low > 0 && low < range / 2;
  double bottom = std::max(low - 0.2 * range, std::min(low, far_low)) - 0.04 * range;
  double top = std::min(high + 0.2 * range, std::max(high, far_high)) + 0.04 * range;
  if (near_zero || (low >= 0 && bottom < 0)) bottom = 0;
  if (high <= 1 && high > 0.5) top = std::min(top, 1.02);
  return {bottom, top};
}

Layout layout(size_t panels) {
  if (panels <= 1) return {1, 660, 400};
  if (panels == 2 || panels == 4) return {2, 450, 340};
  return {3, 280, 280};
}

json figure_frame(json values) {
  return {{"$schema", "https://vega.github.io/schema/vega-lite/v6.json"},
          {"data", {{"values", std::move(values)}}},
          {"config",
           {{"font", "system-ui, sans-serif"},
            {"axis", {{"labelFontSize", 12}, {"titleFontSize", 12}, {"titleFontWeight", 500}}},
            {"legend",
             {{"orient", "bottom"},
              {"labelFontSize", 13},
              {"labelLimit", 400},
              {"symbolSize", 90},
              {"symbolOpacity", 1}}},
            {"header", {{"labelFontSize", 14}, {"labelFontWeight", 600}, {"labelLimit", 260}}},
            {"view", {{"strokeOpacity", 0.3}}}}}};
}

std::vector<Drawing> drawings(const Results& results) {
  std::vector<Drawing> list;
  auto figures = results.figures;
  if (figures.empty()) {
    auto attacks = attack_drawing(results);
    if (attacks.spec.is_null())
      figures = {Figure{}};
    else
      add(list, std::move(attacks), results, false);
  }
  for (const auto& figure : figures) {
    const bool drawable = unknown_columns(results, figure).empty();
    const auto parts = drawable ? scenes(results, {figure.x, figure.y, figure.group, figure.panel})
                                : std::vector{results};
    for (const auto& scene : parts) {
      add(list, curve_drawing(scene, figure, results), scene, parts.size() > 1);
    }
  }
  if (auto stages = stage_drawing(results); !stages.spec.is_null())
    add(list, std::move(stages), results, false);
  const auto attacked = [](const CellResult& cell) { return !cell.attacks.empty(); };
  if (std::none_of(results.cells.begin(), results.cells.end(), attacked)) return list;
  const auto parts = scenes(results, {});
  for (const auto& scene : parts) add(list, roc_drawing(scene, results), scene, parts.size() > 1);
  return list;
}

std::vector<std::pair<std::string, json>> figure_specs(const Results& results) {
  std::vector<std::pair<std::string, json>> specs;
  for (auto& drawing : drawings(results)) {
    if (!drawing.spec.is_null()) specs.emplace_back(drawing.name, std::move(drawing.spec));
  }
  return specs;
}

}  // namespace imprint
