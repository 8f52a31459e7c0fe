#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "framework/reports/figures.h"
#include "framework/reports/summary.h"

namespace imprint {
namespace {

using nlohmann::json;

constexpr int kPointsPerCurve = 120;

double privacy(const Summary& row) { return row.p1_cell ? row.p1_cell->mean : 0; }

/// Of each label the setting with the best mean P1.
std::vector<const Summary*> best_of_each_label(const std::vector<Summary>& rows) {
  std::vector<const Summary*> best;
  for (const auto& row : rows) {
    const auto found = std::find_if(best.begin(), best.end(), [&](const Summary* other) {
      return other->cell().label == row.cell().label;
    });
    if (found == best.end()) {
      best.push_back(&row);
    } else if (privacy(row) > privacy(**found)) {
      *found = &row;
    }
  }
  return best;
}

/// The rates k / n that n non-members can realise, evenly spread on a logarithmic axis.
std::vector<double> attainable_rates(int64_t n) {
  std::vector<double> rates;
  int64_t last = 0;
  for (int i = 0; i <= kPointsPerCurve; ++i) {
    const auto k = std::llround(std::pow(static_cast<double>(n), i / double{kPointsPerCurve}));
    if (k == last) continue;
    last = k;
    rates.push_back(static_cast<double>(k) / static_cast<double>(n));
  }
  return rates;
}

/// The largest TPR at a false positive rate of at most `fpr`: what `TprAt` reports as well.
double tpr_at(const Roc& curve, double fpr) {
  const auto beyond = std::upper_bound(curve.fpr.begin(), curve.fpr.end(), fpr * (1 + 1e-9));
  const auto index = beyond - curve.fpr.begin();
  return index == 0 ? 0 : curve.tpr[static_cast<size_t>(index - 1)];
}

std::vector<const Roc*> curves_of(const Summary& row, const std::string& attack) {
  std::vector<const Roc*> curves;
  for (const auto* cell : row.cells) {
    for (const auto& result : cell->attacks) {
      if (result.attack == attack && !result.roc.fpr.empty()) curves.push_back(&result.roc);
    }
  }
  return curves;
}

/// A rate of zero has no place on a logarithmic axis: a curve starts where no seed has one.
json curve_values(const Summary& row, const AttackSummary& attack) {
  json values = json::array();
  const auto curves = curves_of(row, attack.attack);
  if (curves.empty()) return values;
  for (const double fpr : attainable_rates(attack.non_members)) {
    double sum = 0, least = 1;
    for (const auto* curve : curves) {
      sum += tpr_at(*curve, fpr);
      least = std::min(least, tpr_at(*curve, fpr));
    }
    if (least <= 0) continue;
    values.push_back({{"attack", attack.attack},
                      {"setting", setting_text(row.cell())},
                      {"fpr", fpr},
                      {"tpr", sum / static_cast<double>(curves.size())}});
  }
  return values;
}

json log_axis(const std::string& field, const std::string& title, double low) {
  json ticks = json::array();
  for (double tick = 1; tick > low * 1.5; tick /= 10) ticks.push_back(tick);
  ticks.push_back(low);
  return {{"field", field},
          {"type", "quantitative"},
          {"title", title},
          {"scale", {{"type", "log"}, {"domain", {low, 1}}, {"nice", false}}},
          {"axis",
           {{"values", ticks}, {"format", ".2~g"}, {"gridOpacity", 0.5}, {"labelFlush", false}}}};
}

json layers(const json& style, double low) {
  auto x = log_axis("fpr", "false positive rate", low);
  auto y = log_axis("tpr", "true positive rate", low);
  json diagonal = {{"data", {{"values", {{{"fpr", low}, {"tpr", low}}, {{"fpr", 1}, {"tpr", 1}}}}}},
                   {"mark", {{"type", "line"}, {"color", "#767676"}, {"strokeDash", {2, 3}}}},
                   {"encoding", {{"x", x}, {"y", y}}}};
  json tooltip = {
      {{"field", "setting"}, {"type", "nominal"}},
      {{"field", "fpr"}, {"type", "quantitative"}, {"title", "FPR"}, {"format", ".3~g"}},
      {{"field", "tpr"}, {"type", "quantitative"}, {"title", "TPR"}, {"format", ".3~g"}}};
  json curve = {
      {"mark",
       {{"type", "line"}, {"interpolate", "step-after"}, {"strokeWidth", 1.8}, {"clip", true}}},
      {"encoding",
       {{"x", x},
        {"y", y},
        {"color", style["color"]},
        {"strokeDash", style["strokeDash"]},
        {"tooltip", tooltip}}}};
  return {diagonal, curve};
}

std::vector<std::string> attack_names(const json& values) {
  std::vector<std::string> names;
  for (const auto& row : values) {
    const auto& name = row["attack"].get_ref<const std::string&>();
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

json roc_spec(const json& values, const std::vector<const Summary*>& rows, double low,
              const Results& all) {
  std::vector<std::string> names, labels;
  for (const auto* row : rows) {
    names.push_back(setting_text(row->cell()));
    labels.push_back(row->cell().label);
  }
  const auto attacks = attack_names(values);
  const auto place = layout(attacks.size());
  auto spec = figure_frame(values);
  const auto side = std::min(place.width - 14, 400);  // labels of log axes are wider
  spec["facet"] = {{"field", "attack"}, {"type", "nominal"}, {"title", nullptr}, {"sort", attacks}};
  spec["columns"] = place.columns;
  spec["spec"] = {
      {"width", side},
      {"height", side},
      {"layer", layers(style_encoding("setting", names, styles(all, "label", labels)), low)}};
  spec["resolve"] = {{"axis", {{"x", "independent"}, {"y", "independent"}}}};
  spec["config"]["legend"].update(
      {{"symbolType", "stroke"}, {"symbolSize", 400}, {"symbolStrokeWidth", 3}});
  return spec;
}

}  // namespace

Drawing roc_drawing(const Results& scene, const Results& all) {
  Drawing drawing;
  drawing.name = "roc";
  drawing.title = "ROC curves";
  const auto summaries = summarise(scene);
  const auto rows = best_of_each_label(summaries);
  json values = json::array();
  int64_t fewest = 0;
  for (const auto* row : rows) {
    for (const auto& attack : row->attacks) {
      for (auto& value : curve_values(*row, attack)) values.push_back(std::move(value));
      fewest = fewest ? std::min(fewest, attack.non_members) : attack.non_members;
    }
  }
  if (values.empty()) {
    drawing.caption = "Not drawn: no attack left a curve.";
    return drawing;
  }
  const double low = 1 / static_cast<double>(std::max<int64_t>(fewest, 2));
  drawing.caption = fmt::format(
      "{}{}; both axes logarithmic; the "
      "dotted diagonal is guessing. With {} non-members one false alarm is a rate "
      "of {:.2g}: below that nothing can be said, and the curves end there. A curve that starts "
      "further right belongs to an attack that cannot be made more cautious.",
      rows.front()->cell().foreign()
          ? rows.front()->cell().label
          : "Undefended, and every defense at the setting of its best P1",
      rows.front()->cells.size() > 1 ? ", averaged over its seeds" : "", fewest, low);
  drawing.spec = roc_spec(values, rows, low, all);
  return drawing;
}

}  // namespace imprint
