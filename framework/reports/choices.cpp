#include "framework/reports/choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "framework/reports/ground.h"
#include "framework/reports/summary.h"
#include "framework/reports/tables.h"

namespace imprint {
namespace {

using Setting = std::vector<CellResult*>;  // never empty
using Settings = std::vector<Setting>;

// Settings that compete have the same label and ground.
std::string contest_of(const CellResult& cell) {
  auto key = fmt::format("{}|{}|{}|{}", cell.data, cell.model, cell.label, blindfolded(cell));
  for (const auto& [path, value] : ground_of(cell)) key += fmt::format("|{}={}", path, value);
  return key;
}

std::optional<double> mean_metric(const Setting& cells, const std::string& name) {
  double sum = 0;
  for (const auto* cell : cells) {
    const auto* metric = metric_of(*cell, name);
    if (metric == nullptr) return std::nullopt;
    sum += metric->value;
  }
  return sum / static_cast<double>(cells.size());
}

Settings settings_of(const std::vector<CellResult*>& cells) {
  Settings settings;
  for (auto* cell : cells) {
    const auto same = [&](const auto& each) { return same_setting(*each.front(), *cell); };
    auto found = std::find_if(settings.begin(), settings.end(), same);
    if (found == settings.end()) found = settings.insert(found, Setting{});
    found->push_back(cell);
  }
  return settings;
}

std::map<std::string, Settings> by_contest(std::vector<CellResult>& cells) {
  std::map<std::string, std::vector<CellResult*>> contests;
  for (auto& cell : cells) contests[contest_of(cell)].push_back(&cell);
  std::map<std::string, Settings> all;
  for (const auto& [contest, entrants] : contests) all[contest] = settings_of(entrants);
  return all;
}

// The accuracy on the tune piece that a setting must keep: that of the most accurate undefended
// one.
double required_accuracy(std::vector<CellResult>& cells, const CellResult& like) {
  Setting undefended;
  for (auto& cell : cells)
    if (cell.defense == "none" && same_ground(cell, like)) undefended.push_back(&cell);
  double best = 0;
  for (const auto& setting : settings_of(undefended))
    best = std::max(best, mean_metric(setting, "tune.accuracy").value_or(0));
  return best;
}

// Settings that may be chosen, with the metric that decides.
struct Eligible {
  std::vector<std::pair<const Setting*, double>> settings;
  size_t too_inaccurate = 0;
};

Eligible eligible(const TuneChoice& how, const Settings& settings, std::vector<CellResult>& cells) {
  Eligible result;
  for (const auto& setting : settings) {
    const auto value = mean_metric(setting, "tune." + how.by);
    const auto accuracy = mean_metric(setting, "tune.accuracy");
    if (!value || !accuracy) continue;
    const auto& cell = *setting.front();
    // Undefended settings are what the others are held to.
    const bool held = how.keep_accuracy && cell.defense != "none";
    if (held && *accuracy < required_accuracy(cells, cell))
      ++result.too_inaccurate;
    else
      result.settings.emplace_back(&setting, *value);
  }
  return result;
}

void note_none(const CellResult& cell, Results& results) {
  CellResult words;
  words.label = cell.label;
  words.swept = ground_of(cell);
  results.notes.push_back(
      fmt::format("{} with {}: no setting of {} keeps the undefended accuracy on the tune piece.",
                  cell.data, cell.model, setting_text(words)));
}

}  // namespace

void choose(const std::optional<TuneChoice>& how, Results& results) {
  if (!how) return;
  const double sign = how->by == "advantage" ? -1 : 1;
  for (const auto& [contest, settings] : by_contest(results.cells)) {
    const auto [candidates, too_inaccurate] = eligible(*how, settings, results.cells);
    if (candidates.empty()) {
      const auto& cell = *settings.front().front();
      if (too_inaccurate > 0 && !blindfolded(cell)) note_none(cell, results);
      continue;
    }
    const auto& [best, value] = *std::max_element(
        candidates.begin(), candidates.end(),
        [&](const auto& a, const auto& b) { return sign * a.second < sign * b.second; });
    for (auto* cell : *best) cell->chosen = true;
    const auto& first = *best->front();
    if (settings.size() > 1)
      results.chosen.push_back({first.data, first.model, first.label, setting_text(first),
                                "tune." + how->by, value, static_cast<int64_t>(settings.size())});
  }
}

}  // namespace imprint
