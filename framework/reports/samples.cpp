#include "framework/reports/samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "framework/config/problems.h"

namespace imprint {
namespace {

using Rows = std::vector<const ResultRow*>;

std::optional<double> number(const ResultRow& row, const std::string& column) {
  const auto found = row.values.find(column);
  if (found == row.values.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::optional<Reading> read(const ResultRow& row, const std::string& metric) {
  const auto& cell = *row.cell;
  if (const auto value = number(row, metric)) {
    return Reading{cell.seed, cell.target, *value, interval_of(row, metric)};
  }
  if (const auto* found = metric_of(cell, metric))
    return Reading{cell.seed, cell.target, found->value, interval_of(row, metric)};
  return std::nullopt;
}

/// The attack with the largest mean advantage, the first of equals; empty if none fits.
std::string strongest(const Rows& rows, const std::string& wanted) {
  std::vector<std::pair<std::string, std::vector<Reading>>> attacks;
  for (const auto* row : rows) {
    if (!row->attack || !row->attack->score.decided || !fits(wanted, row->attack->attack)) continue;
    const auto& name = row->attack->attack;
    auto found = std::find_if(attacks.begin(), attacks.end(),
                              [&](const auto& entry) { return entry.first == name; });
    if (found == attacks.end()) found = attacks.insert(found, {name, {}});
    found->second.push_back(*read(*row, "advantage"));
  }
  const auto best = std::max_element(
      attacks.begin(), attacks.end(),
      [](const auto& a, const auto& b) { return spread(a.second).mean < spread(b.second).mean; });
  return best == attacks.end() ? "" : best->first;
}

std::vector<Rows> settings(const std::vector<ResultRow>& rows, const Selector& selector) {
  std::vector<Rows> all;
  for (const auto& row : rows) {
    if (!selector.matches(*row.cell)) continue;
    auto found = std::find_if(all.begin(), all.end(), [&](const Rows& setting) {
      return same_setting(*setting.front()->cell, *row.cell);
    });
    if (found == all.end()) found = all.insert(found, Rows{});
    found->push_back(&row);
  }
  return all;
}

/// " (no swept key 'alhpa'; did you mean 'alpha'?)" for the first key that no cell has.
std::string unswept(const std::vector<ResultRow>& rows, const Selector& selector) {
  std::set<std::string> paths = {"defense", "label", "data", "model", "seed", "chosen"};
  for (const auto& row : rows) {
    for (const auto& [path, value] : row.cell->swept) paths.insert(path);
  }
  std::vector<std::string> words;
  for (const auto& path : paths) words.push_back(path.substr(path.rfind('.') + 1));
  for (const auto& [key, value] : selector.keys) {
    const bool known = std::any_of(paths.begin(), paths.end(),
                                   [&](const auto& path) { return stands_for(key, path); });
    if (!known) return fmt::format(" (no swept key '{}'{})", key, did_you_mean(key, words));
  }
  return "";
}

}  // namespace

bool fits(const std::string& wanted, const std::string& attack) {
  return wanted.empty() || attack == wanted || attack.starts_with(wanted + " (");
}

Sample sample(const std::vector<const ResultRow*>& rows, const Quantity& quantity) {
  Sample result{rows, {}, ""};
  const bool by_attack = depends_on_attack(quantity.metric);
  if (by_attack) result.attack = strongest(rows, quantity.attack);
  const CellResult* last = nullptr;
  for (const auto* row : rows) {
    const bool wanted =
        by_attack ? row->attack && row->attack->attack == result.attack : row->cell != last;
    last = row->cell;
    const auto reading = wanted ? read(*row, quantity.metric) : std::nullopt;
    if (reading) result.readings.push_back(*reading);
  }
  return result;
}

std::vector<Sample> samples(const std::vector<ResultRow>& rows, const Selector& selector,
                            const Quantity& quantity) {
  std::vector<Sample> all;
  const auto found = settings(rows, selector);
  if (found.empty()) throw Missing("no such cell: " + selector.text() + unswept(rows, selector));
  for (const auto& setting : found) {
    auto one = sample(setting, quantity);
    if (!one.readings.empty()) all.push_back(std::move(one));
  }
  if (!all.empty()) return all;
  const bool named = depends_on_attack(quantity.metric) && !quantity.attack.empty();
  throw Missing(fmt::format("no {}{} of {}", quantity.metric,
                            named ? fmt::format(" under attack '{}'", quantity.attack) : "",
                            selector.text()));
}

const Sample& best(const std::vector<Sample>& samples,
                   const std::function<double(const Sample&)>& rank) {
  return *std::max_element(samples.begin(), samples.end(), [&](const auto& a, const auto& b) {
    const double x = rank(a), y = rank(b);
    return x < y || (std::isnan(x) && !std::isnan(y));
  });
}

const Sample& extreme(const std::vector<Sample>& samples, double sign) {
  return best(samples, [sign](const Sample& sample) { return sign * sample.mean(); });
}

}  // namespace imprint
