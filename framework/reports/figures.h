#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "framework/reports/results.h"

namespace imprint {

/// One picture of the report.
struct Drawing {
  std::string name;     ///< unique, fit for a file name: "advantage_against_test_accuracy"
  std::string title;    ///< a heading, plain text
  std::string caption;  ///< what the marks mean; where `spec` is null, why there is no picture
  nlohmann::json spec;  ///< standalone Vega-Lite with its data inline, or null
};

/// The privacy-utility curves of every Figure (of the default one where there is none; of a single
/// setting its attacks side by side instead), then the ROC curves where there were attacks; each
/// once per data set and model. A colour means the same defense in all of them.
std::vector<Drawing> drawings(const Results& results);

/// The specifications of all drawings that have one, by name.
std::vector<std::pair<std::string, nlohmann::json>> figure_specs(const Results& results);

/// How one value of the grouping column looks in every figure.
struct Style {
  std::string color, shape;
  std::vector<int> dash;
};

/// One style per value of `column`. Labels keep theirs through all figures, a defense has that of
/// its first label, and what is undefended is grey.
std::vector<Style> styles(const Results& results, const std::string& column,
                          const std::vector<std::string>& values);

/// The parts of an encoding that give each of `names` its style, for marks on lines or points.
nlohmann::json style_encoding(const std::string& field, const std::vector<std::string>& names,
                              const std::vector<Style>& styles);

/// One figure of a single data set and model; `all` decides the colours.
Drawing curve_drawing(const Results& scene, const Figure& figure, const Results& all);

/// The AUC, TPR at a low FPR and advantage of all attacks on one setting; its `spec` is null where
/// there are several settings, or fewer than two attacks.
Drawing attack_drawing(const Results& results);

/// ROC curves of a single data set and model: undefended, and each label at the setting of its best
/// P1. Its `spec` is null where no attack has a curve.
Drawing roc_drawing(const Results& scene, const Results& all);

/// What was seen at each number of shadows of an audit in stages; its `spec` is null without
/// stages.
Drawing stage_drawing(const Results& results);

/// A column's name in words, or as it is where it has none.
std::string column_title(const std::string& column);

/// Points and record intervals decide the domain. Intervals over few seeds are so wide that they
/// would squeeze everything else into a corner: they may widen it by a fifth on each side, and are
/// cut beyond. Zero is included where it is near, which keeps accuracies from being forced to it.
/// `values` are rows with the fields <axis> and its record and repeat ends.
nlohmann::json axis_domain(const nlohmann::json& values, const std::string& axis);

/// How panels of a wrapped facet share a page of 1100 pixels.
struct Layout {
  int columns = 1, width = 0, height = 0;
};
Layout layout(size_t panels);

/// What every specification has: schema, data and the look of text.
nlohmann::json figure_frame(nlohmann::json values);

}  // namespace imprint
