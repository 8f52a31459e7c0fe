#include "framework/reports/choices.h"

#include <fmt/format.h>

#include <map>
#include <numeric>

#include "framework/reports/ground.h"
#include "framework/reports/summary.h"
#include "framework/reports/tables.h"

namespace imprint {
namespace {

using Settings = std::vector<std::vector<CellResult*>>;

// Settings that compete have the same label and ground.
std::string contest_of(const CellResult& cell) {
  auto key = fmt::format("{}|{}|{}|{}", cell.data, cell.model, cell.label, blindfolded(cell));
  for (const auto& [path, value] : ground_of(cell)) key += fmt::format("|{}={}", path, value);
  return key;
}

std::optional<double> mean_metric(const std::vector<CellResult*>& cells, const std::string& name) {
  double sum = 0;
  for (const auto* cell : cells) {
    const auto* metric = metric_of(*cell, name);
    if (metric == nullptr) return std::nullopt;
    sum += metric->value;
  }
  return sum / static_cast<double>(cells.size());
}

std::map<std::string, Settings> by_ground(std::vector<CellResult>& cells) {
  std::map<std::string, Settings> grounds;
  for (auto& cell : cells) {
    auto& settings = grounds[contest_of(cell)];
    const auto same = [&](const auto& each) { return same_setting(*each.front(), cell); };
    auto found = std::find_if(settings.begin(), settings.end(), same);
    if (found == settings.end()) found = settings.insert(found, std::vector<CellResult*>{});
    found->push_back(&cell);
  }
  return grounds;
}

// The accuracy on the tune piece that a setting must keep: that of the undefended model.
double required_accuracy(std::vector<CellResult>& cells, const CellResult& like) {
  std::vector<CellResult*> undefended;
  for (auto& cell : cells)
    if (cell.defense == "none" && same_ground(cell, like)) undefended.push_back(&cell);
  return undefended.empty() ? 0 : mean_metric(undefended, "tune.accuracy").value_or(0);
}

}  // namespace

std::vector<Chosen> choose(const std::optional<TuneChoice>& how, std::vector<CellResult>& cells) {
  std::vector<Chosen> all;
  if (!how) return all;
  const auto metric = "tune." + how->by;
  const double sign = how->by == "advantage" ? -1 : 1;
  for (auto& [ground, settings] : by_ground(cells)) {
    const std::vector<CellResult*>* best = nullptr;
    double best_value = 0;
    for (const auto& setting : settings) {
      const auto value = mean_metric(setting, metric);
      const auto accuracy = mean_metric(setting, "tune.accuracy");
      if (!value || !accuracy) continue;
      if (how->keep_accuracy && *accuracy < required_accuracy(cells, *setting.front())) continue;
      if (best != nullptr && sign * *value <= sign * best_value) continue;
      best = &setting;
      best_value = *value;
    }
    if (best == nullptr) continue;
    for (auto* cell : *best) cell->chosen = true;
    const auto& first = *best->front();
    if (settings.size() > 1)
      all.push_back({first.data, first.model, first.label, setting_text(first), metric, best_value,
                     static_cast<int64_t>(settings.size())});
  }
  return all;
}

}  // namespace imprint
