#include "framework/reports/matched_utility.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "framework/reports/ground.h"
#include "framework/reports/utility_curves.h"

namespace imprint {
namespace {

/// own - rival in one run.
struct Gap {
  struct At {
    double accuracy = 0, difference = 0;
  };
  Run run;
  Interval shared;
  std::optional<At> undefended, middle, mean;
};

/// `bar`: the undefended accuracy, where that is to be compared.
Gap gap(const Run& run, const Frontier& own, const Frontier& rival,
        const std::optional<double>& bar) {
  const auto at = [&](double accuracy) {
    return Gap::At{accuracy, own.at(accuracy) - rival.at(accuracy)};
  };
  const auto shared = shared_range(own, rival);
  const double middle = (shared.low + shared.high) / 2;
  Gap result{run, shared, {}, at(middle), Gap::At{middle, own.mean(shared) - rival.mean(shared)}};
  if (bar) result.undefended = at(*bar);
  return result;
}

/// The undefended curve that is most accurate in the run; null where there is none.
const UtilityCurve* bar_for(const UtilityCurve& own, const UtilityCurve& rival, const Run& run,
                            const std::vector<UtilityCurve>& curves) {
  const UtilityCurve* best = nullptr;
  const auto accuracy = [&](const UtilityCurve& curve) {
    return curve.frontiers.at(run).range().high;
  };
  for (const auto& curve : curves) {
    if (!curve.undefended() || !curve.frontiers.contains(run)) continue;
    if (!same_ground(*curve.cell, *own.cell) || !same_ground(*curve.cell, *rival.cell)) continue;
    if (!best || accuracy(curve) > accuracy(*best)) best = &curve;
  }
  return best;
}

/// What was measured in each run that both curves have, and the resamples of the only one.
struct Gaps {
  std::vector<Gap> measured, redrawn;
  std::vector<Reading> runs;  ///< all in common, whether or not they share an accuracy
  std::set<int> orders;       ///< of the frontiers, in all runs that do
};

std::vector<Gap> redrawn_gaps(const Run& run, const UtilityCurve& own, const UtilityCurve& rival,
                              const UtilityCurve* bar) {
  std::vector<Gap> gaps;
  const auto resamples = std::min(own.redrawn.size(), rival.redrawn.size());
  gaps.reserve(resamples);
  for (size_t i = 0; i < resamples; ++i) {
    std::optional<double> level;
    if (bar) level = (bar->redrawn.empty() ? bar->frontiers.at(run) : bar->redrawn[i]).range().high;
    gaps.push_back(gap(run, own.redrawn[i], rival.redrawn[i], level));
  }
  return gaps;
}

Gaps gaps_between(const UtilityCurve& own, const UtilityCurve& rival,
                  const std::vector<UtilityCurve>& curves) {
  Gaps gaps;
  for (const auto& [run, frontier] : own.frontiers) {
    const auto found = rival.frontiers.find(run);
    if (found == rival.frontiers.end()) continue;
    gaps.runs.push_back({run.first, run.second, 0, std::nullopt});
    const auto& other = found->second;
    const auto shared = shared_range(frontier, other);
    if (shared.low > shared.high) continue;
    const auto* bar = bar_for(own, rival, run, curves);
    std::optional<double> level;
    if (bar) level = bar->frontiers.at(run).range().high;
    if (level && (*level < shared.low || *level > shared.high)) level.reset();
    gaps.measured.push_back(gap(run, frontier, other, level));
    gaps.orders.insert(order(frontier, other));
    gaps.redrawn = redrawn_gaps(run, own, rival, level ? bar : nullptr);
  }
  return gaps;
}

using Place = std::optional<Gap::At> Gap::*;

/// By the standard deviation of the resamples, not by their quantiles: as a whole they are shifted,
/// since the lowest of settings drawn anew is lower still.
Interval bootstrap(double value, const std::vector<Gap>& redrawn, Place place) {
  const auto n = static_cast<double>(redrawn.size());
  double mean = 0, squares = 0;
  for (const auto& each : redrawn) mean += (each.*place)->difference / n;
  for (const auto& each : redrawn) squares += std::pow((each.*place)->difference - mean, 2);
  const double half = kNormalQuantile * std::sqrt(squares / (n - 1));
  return {value - half, value + half};
}

std::optional<MatchedDifference> difference_at(Place place, const Gaps& gaps) {
  std::vector<Reading> differences, accuracies;
  for (const auto& gap : gaps.measured) {
    const auto& [seed, target] = gap.run;
    if (!(gap.*place)) continue;
    differences.push_back({seed, target, (gap.*place)->difference, std::nullopt});
    accuracies.push_back({seed, target, (gap.*place)->accuracy, std::nullopt});
  }
  if (differences.empty()) return std::nullopt;
  if (!gaps.redrawn.empty())
    differences.front().interval = bootstrap(differences.front().value, gaps.redrawn, place);
  return MatchedDifference{spread(accuracies).mean, spread(differences)};
}

std::optional<Interval> mean_range(const std::vector<Gap>& gaps) {
  if (gaps.empty()) return std::nullopt;
  std::vector<Reading> low, high;
  for (const auto& gap : gaps) {
    low.push_back({gap.run.first, gap.run.second, gap.shared.low, std::nullopt});
    high.push_back({gap.run.first, gap.run.second, gap.shared.high, std::nullopt});
  }
  return Interval{spread(low).mean, spread(high).mean};
}

MatchedPair pair_of(const UtilityCurve& own, const UtilityCurve& rival, const std::string& attack,
                    const std::vector<UtilityCurve>& curves) {
  const auto gaps = gaps_between(own, rival, curves);
  MatchedPair pair;
  pair.task = task_of(*own.cell);
  pair.own = own.name;
  pair.rival = rival.name;
  pair.own_undefended = own.undefended();
  pair.rival_undefended = rival.undefended();
  pair.attack = attack;
  if (gaps.runs.empty()) return pair;
  const auto runs = spread(gaps.runs);
  pair.repetitions = runs.repetitions;
  pair.over = runs.over;
  pair.shared = mean_range(gaps.measured);
  pair.undefended = difference_at(&Gap::undefended, gaps);
  pair.middle = difference_at(&Gap::middle, gaps);
  pair.mean = difference_at(&Gap::mean, gaps);
  if (gaps.orders.size() == 1) pair.order = *gaps.orders.begin();
  return pair;
}

bool beats(const Summary& a, const Summary& b) {
  const double more = a.test_accuracy->mean - b.test_accuracy->mean;
  const double less = b.strongest()->advantage->mean - a.strongest()->advantage->mean;
  return more >= 0 && less >= 0 && (more > 0 || less > 0);
}

/// Without `shadows.defense`, which is the same wherever it stands.
std::string setting_name(const CellResult& cell) {
  CellResult words;
  words.label = cell.label;
  words.swept = cell.swept;
  std::erase_if(words.swept, [](const auto& choice) { return choice.first == kShadowDefense; });
  return setting_text(words);
}

}  // namespace

std::vector<MatchedPair> matched_pairs(const Results& results, const std::string& attack) {
  const auto curves = utility_curves(results, attack);
  std::vector<MatchedPair> pairs;
  for (size_t i = 0; i < curves.size(); ++i) {
    for (size_t j = i + 1; j < curves.size(); ++j) {
      if (!same_ground(*curves[i].cell, *curves[j].cell)) continue;
      const bool swap = curves[i].undefended();
      pairs.push_back(pair_of(curves[swap ? j : i], curves[swap ? i : j], attack, curves));
    }
  }
  return pairs;
}

std::vector<ParetoSetting> pareto_front(const Results& results) {
  auto rows = summarise(results);
  std::erase_if(rows, [](const Summary& row) {
    return blindfolded(row.cell()) || row.cell().foreign() || !row.test_accuracy ||
           !row.strongest() || !row.strongest()->advantage;
  });
  std::vector<ParetoSetting> front;
  for (const auto& row : rows) {
    const bool beaten = std::any_of(rows.begin(), rows.end(), [&](const Summary& other) {
      return same_ground(other.cell(), row.cell()) && beats(other, row);
    });
    if (beaten) continue;
    const auto& cell = row.cell();
    const auto& strongest = *row.strongest();
    front.push_back({task_of(cell), setting_name(cell), strongest.attack, *row.test_accuracy,
                     *strongest.advantage, row.undefended()});
  }
  return front;
}

}  // namespace imprint
