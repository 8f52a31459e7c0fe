#include "framework/reports/stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "framework/config/problems.h"
#include "framework/reports/samples.h"

namespace imprint {
namespace {

// Cells that differ only in seed and target are one setting.
std::string setting_key(const Cell& cell) {
  std::string key = cell.data.source.about->name + "|" + cell.model + "|" + cell.label;
  for (const auto& [path, value] : cell.swept) key += "|" + path + "=" + value;
  return key;
}

// Every attack's value of the metric in one setting.
std::vector<Stage> stages_of(const std::vector<const ResultRow*>& rows, const Until& until,
                             int64_t shadows) {
  std::vector<Stage> stages;
  std::set<std::string> attacks;
  for (const auto* row : rows)
    if (row->attack != nullptr && attacks.insert(row->attack->attack).second) {
      const auto found = sample(rows, {until.metric, row->attack->attack});
      if (found.readings.empty()) continue;
      const auto all = spread(found.readings);
      const auto interval = all.repeats ? all.repeats : all.records;
      Stage stage{setting_text(*row->cell), row->attack->attack, until.metric, shadows, all.mean};
      if (interval) {
        stage.low = interval->low;
        stage.high = interval->high;
      }
      stages.push_back(stage);
    }
  return stages;
}

// Whether the interval that counts is narrow enough: that of the attack asked for, else that of the
// attack with the largest value.
bool knows_enough(const std::vector<Stage>& stages, const Until& until) {
  const Stage* counts = nullptr;
  for (const auto& stage : stages) {
    if (!fits(until.attack, stage.attack)) continue;
    if (counts == nullptr || stage.value > counts->value) counts = &stage;
  }
  return counts != nullptr && counts->low && counts->high &&
         (*counts->high - *counts->low) / 2 <= until.half_width;
}

}  // namespace

void check_until(const Experiment& experiment, Problems& problems) {
  static const auto columns = numeric_columns();
  std::set<std::string> said;
  for (const auto& cell : experiment.cells) {
    if (!cell.shadows.until) continue;
    const auto& [metric, attack, half_width, mark] = *cell.shadows.until;
    const bool column = std::find(columns.begin(), columns.end(), metric) != columns.end();
    const bool own = metric.find('.') != std::string::npos && !metric.starts_with("tpr_at_");
    if (!column && !own && said.insert(metric).second)
      problems.add(mark, fmt::format("until has no metric '{}'{} (columns of results.csv, or "
                                     "component.metric)",
                                     metric, did_you_mean(metric, columns)));
    std::vector<std::string> names;
    for (const auto& each : cell.attacks) names.push_back(each.label);
    const auto wanted = [&](const auto& name) { return fits(attack, name); };
    if (std::none_of(names.begin(), names.end(), wanted) && said.insert(attack).second)
      problems.add(mark,
                   fmt::format("until names no attack of this experiment: '{}'{} (attacks: {})",
                               attack, did_you_mean(attack, names), joined(names)));
  }
}

Stages::Stages(const Experiment& full) : full_(full) {
  for (const auto& cell : full.cells)
    if (cell.shadows.until) shadows_[setting_key(cell)] = std::min<int64_t>(2, cell.shadows.count);
}

Experiment Stages::current() const {
  auto experiment = full_;
  for (auto& cell : experiment.cells)
    if (const auto found = shadows_.find(setting_key(cell)); found != shadows_.end())
      cell.shadows.count = found->second;
  // With as many shadows as there are models in other blocks, every model can be the target.
  std::erase_if(experiment.cells, [](const Cell& cell) {
    return cell.shadows.all_targets && cell.target_model >= cell.shadows.count + 2;
  });
  return experiment;
}

bool Stages::advance(const Results& results) {
  const auto rows = result_rows(results);
  std::map<std::string, std::vector<const ResultRow*>> by_setting;
  std::map<std::string, const Cell*> cells;
  for (const auto& cell : full_.cells) {
    if (!cell.shadows.until) continue;
    cells[setting_key(cell)] = &cell;
    for (const auto& row : rows)
      if (row.cell->id == cell.id) by_setting[setting_key(cell)].push_back(&row);
  }
  bool more = false;
  for (const auto& [key, cell] : cells) {
    auto& shadows = shadows_.at(key);
    const auto& until = *cell->shadows.until;
    const auto stages = stages_of(by_setting[key], until, shadows);
    const auto seen = [&](const Stage& stage) {
      return !stages.empty() && stage.setting == stages.front().setting && stage.shadows == shadows;
    };
    if (std::none_of(seen_.begin(), seen_.end(), seen))
      seen_.insert(seen_.end(), stages.begin(), stages.end());
    // Without results the cells failed, which more shadows do not mend.
    if (by_setting[key].empty() || shadows >= cell->shadows.count || knows_enough(stages, until))
      continue;
    shadows = std::min(2 * shadows, cell->shadows.count);
    more = true;
  }
  return more;
}

}  // namespace imprint
