#include "framework/reports/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace imprint {
namespace {

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::vector<double> mean_per_unit(const std::vector<Reading>& readings, bool by_seed) {
  std::map<int64_t, std::vector<double>> units;
  for (const auto& reading : readings) {
    units[by_seed ? reading.seed : reading.target].push_back(reading.value);
  }
  std::vector<double> means;
  for (const auto& [unit, values] : units) means.push_back(mean(values));
  return means;
}

std::optional<Interval> mean_of_intervals(const std::vector<Reading>& readings) {
  std::vector<double> low, high;
  for (const auto& reading : readings) {
    if (!reading.interval) continue;
    low.push_back(reading.interval->low);
    high.push_back(reading.interval->high);
  }
  if (low.empty()) return std::nullopt;
  return Interval{mean(low), mean(high)};
}

Reading reading(const CellResult& cell, double value, std::optional<Interval> interval = {}) {
  return {cell.seed, cell.target, value, interval};
}

const TprAt* level(const Score& score, double fpr) {
  const auto found = std::find_if(score.tpr_at.begin(), score.tpr_at.end(),
                                  [&](const TprAt& at) { return at.fpr == fpr; });
  return found == score.tpr_at.end() ? nullptr : &*found;
}

using Runs = std::vector<std::pair<const CellResult*, const AttackResult*>>;

/// A level that one repetition cannot resolve is absent for all: a mean over the others would be
/// another quantity than its neighbours in the table.
std::optional<Spread> tpr_spread(const Runs& runs, double fpr) {
  std::vector<Reading> readings;
  for (const auto& [cell, attack] : runs) {
    const auto* at = level(attack->score, fpr);
    if (!at || !at->enough) return std::nullopt;
    readings.push_back(reading(*cell, at->tpr, at->interval));
  }
  return spread(readings);
}

std::optional<Spread> spread_of_all(const std::vector<Reading>& readings, size_t repetitions) {
  return readings.size() < repetitions ? std::nullopt : std::optional(spread(readings));
}

AttackSummary summarise_attack(const std::string& name, const Runs& runs) {
  std::vector<Reading> advantage, best, auc, epsilon, p1;
  AttackSummary summary;
  summary.attack = name;
  summary.members = runs.front().second->score.members;
  summary.non_members = runs.front().second->score.non_members;
  for (const auto& [cell, attack] : runs) {
    const auto& score = attack->score;
    if (score.decided)
      advantage.push_back(reading(*cell, score.advantage, score.advantage_interval));
    best.push_back(reading(*cell, score.advantage_best));
    auc.push_back(reading(*cell, score.auc, score.auc_interval));
    epsilon.push_back(reading(*cell, attack->epsilon_low));
    if (attack->p1) p1.push_back(reading(*cell, *attack->p1));
    summary.members = std::min(summary.members, score.members);
    summary.non_members = std::min(summary.non_members, score.non_members);
  }
  summary.advantage = spread_of_all(advantage, runs.size());
  summary.advantage_best = spread(best);
  summary.auc = spread(auc);
  summary.epsilon_low = spread(epsilon);
  summary.p1 = spread_of_all(p1, runs.size());
  for (const double fpr : reported_fprs()) summary.tpr_at.push_back(tpr_spread(runs, fpr));
  return summary;
}

std::vector<AttackSummary> summarise_attacks(const std::vector<const CellResult*>& cells) {
  std::vector<std::pair<std::string, Runs>> by_name;
  for (const auto* cell : cells) {
    for (const auto& attack : cell->attacks) {
      auto found = std::find_if(by_name.begin(), by_name.end(),
                                [&](const auto& entry) { return entry.first == attack.attack; });
      if (found == by_name.end()) found = by_name.insert(found, {attack.attack, Runs{}});
      found->second.emplace_back(cell, &attack);
    }
  }
  std::vector<AttackSummary> summaries;
  for (const auto& [name, runs] : by_name) summaries.push_back(summarise_attack(name, runs));
  return summaries;
}

Summary summarise_setting(const std::vector<const CellResult*>& cells) {
  std::vector<Reading> train, test, p1;
  for (const auto* cell : cells) {
    if (cell->train_accuracy) train.push_back(reading(*cell, *cell->train_accuracy));
    if (cell->test_accuracy)
      test.push_back(reading(*cell, *cell->test_accuracy, cell->test_accuracy_interval));
    if (cell->p1_cell) p1.push_back(reading(*cell, cell->p1_cell->value, cell->p1_cell->interval));
  }
  Summary summary;
  summary.cells = cells;
  summary.train_accuracy = spread_of_all(train, cells.size());
  summary.test_accuracy = spread_of_all(test, cells.size());
  if (!p1.empty()) summary.p1_cell = spread(p1);
  summary.attacks = summarise_attacks(cells);
  return summary;
}

// "shadows.defense" stays whole: the bare word would be taken for the target's.
std::string last_part(const std::string& path) {
  const auto dot = path.rfind('.');
  return dot == std::string::npos || path == kShadowDefense ? path : path.substr(dot + 1);
}

}  // namespace

Spread spread(const std::vector<Reading>& readings) {
  Spread result;
  auto units = mean_per_unit(readings, true);
  result.mean = mean(units);
  result.records = mean_of_intervals(readings);
  if (units.size() == 1) {
    units = mean_per_unit(readings, false);
    if (units.size() > 1) result.over = "targets";
  }
  result.repetitions = static_cast<int64_t>(units.size());
  if (units.size() > 1) result.repeats = mean_interval(units);
  return result;
}

const AttackSummary* Summary::strongest() const {
  const bool decided = std::all_of(attacks.begin(), attacks.end(),
                                   [](const auto& each) { return each.advantage.has_value(); });
  const auto strength = [&](const AttackSummary& each) {
    return decided ? each.advantage->mean : each.auc.mean;
  };
  const auto found =
      std::max_element(attacks.begin(), attacks.end(),
                       [&](const auto& a, const auto& b) { return strength(a) < strength(b); });
  return found == attacks.end() ? nullptr : &*found;
}

const Spread* Summary::repeated() const {
  if (test_accuracy) return &*test_accuracy;
  return attacks.empty() ? nullptr : &attacks.front().auc;
}

bool blindfolded(const CellResult& cell) {
  return std::any_of(cell.swept.begin(), cell.swept.end(), [](const auto& each) {
    return each.first == kShadowDefense && each.second == "none";
  });
}

bool of_defense(const std::string& path, const CellResult& cell) {
  const auto links = "+" + cell.defense + "+";
  return links.find("+" + path.substr(0, path.find('.')) + "+") != std::string::npos;
}

bool same_setting(const CellResult& a, const CellResult& b) {
  return a.data == b.data && a.model == b.model && a.defense == b.defense && a.label == b.label &&
         a.swept == b.swept;
}

std::vector<Summary> summarise(const Results& results) {
  std::vector<std::vector<const CellResult*>> settings;
  for (const auto& cell : results.cells) {
    auto found = std::find_if(settings.begin(), settings.end(), [&](const auto& cells) {
      return same_setting(*cells.front(), cell);
    });
    if (found == settings.end()) found = settings.insert(found, std::vector<const CellResult*>{});
    found->push_back(&cell);
  }
  std::vector<Summary> summaries;
  for (const auto& cells : settings) summaries.push_back(summarise_setting(cells));
  return summaries;
}

std::string swept_text(const CellResult& cell) {
  std::set<std::string> names;
  for (const auto& [path, value] : cell.swept) names.insert(last_part(path));
  const bool distinct = names.size() == cell.swept.size();
  std::string text;
  for (const auto& [path, value] : cell.swept) {
    text +=
        fmt::format("{}{}={}", text.empty() ? "" : ", ", distinct ? last_part(path) : path, value);
  }
  return text;
}

std::string setting_text(const CellResult& cell) {
  const auto swept = swept_text(cell);
  return swept.empty() ? cell.label : fmt::format("{} ({})", cell.label, swept);
}

std::string decimals(double value) {
  const double rounded = std::round(value * 1000) / 1000;
  return fmt::format("{:.3f}", rounded == 0 ? 0.0 : rounded);
}

std::string decimals(const Interval& interval) {
  return fmt::format("{}, {}", decimals(interval.low), decimals(interval.high));
}

std::string counted(int64_t n, const std::string& noun) {
  return n == 1 ? "one " + noun : fmt::format("{} {}s", n, noun);
}

}  // namespace imprint
