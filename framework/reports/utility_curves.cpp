#include "framework/reports/utility_curves.h"

#include <algorithm>
#include <utility>

#include "framework/config/digest.h"
#include "framework/privacy/dice.h"
#include "framework/reports/ground.h"

namespace imprint {
namespace {

constexpr size_t kRedraws = 1000;

/// The strongest attack on the cell, or the one of that name; null without decisions.
const Score* score_of(const CellResult& cell, const std::string& attack) {
  const Score* best = nullptr;
  for (const auto& each : cell.attacks) {
    if (!each.score.decided || (!attack.empty() && each.attack != attack)) continue;
    if (!best || each.score.advantage > best->advantage) best = &each.score;
  }
  return best;
}

/// One setting in one run.
struct Trial {
  double accuracy = 0;
  const Score* score = nullptr;
  double accuracy_error = 0;  ///< standard error
};
using Trials = std::map<Run, std::vector<Trial>>;

Frontier observed_frontier(const std::vector<Trial>& settings) {
  std::vector<TradeOff> points;
  for (const auto& each : settings) points.push_back({each.accuracy, each.score->advantage});
  return Frontier(std::move(points));
}

/// How far a rate lies off when its records are drawn anew. Half a record is added to both
/// outcomes, so that a rate of 0 or 1 does not count as certain.
double redrawn_error(double rate, int64_t n, Dice& dice) {
  if (n == 0) return 0;
  const auto records = static_cast<double>(n);
  const double chance = (rate * records + 0.5) / (records + 1);
  return static_cast<double>(dice.binomial(n, chance)) / records - chance;
}

Frontier redrawn_frontier(const std::vector<Trial>& settings, Dice& dice) {
  std::vector<TradeOff> points;
  points.reserve(settings.size());
  for (const auto& [accuracy, score, accuracy_error] : settings) {
    const double hits = redrawn_error(score->tpr, score->members, dice);
    const double alarms = redrawn_error(score->fpr, score->non_members, dice);
    points.push_back({accuracy + accuracy_error * dice.normal(), score->advantage + hits - alarms});
  }
  return Frontier(std::move(points));
}

Trial trial_of(const CellResult& cell, const Score& score) {
  const auto& [low, high] = cell.test_accuracy_interval;
  return {*cell.test_accuracy, &score, (high - low) / (2 * kNormalQuantile)};
}

/// Of the words that name a curve, so that two curves have different draws.
Dice dice_for(const UtilityCurve& curve, const std::string& attack) {
  Sha256 digest;
  for (const auto& word : {curve.cell->data, curve.cell->model, curve.name, attack})
    digest.field(word);
  return Dice(std::stoull(digest.hex().substr(0, 16), nullptr, 16));
}

void draw(UtilityCurve& curve, const Trials& runs, const std::string& attack) {
  for (const auto& [run, settings] : runs)
    curve.frontiers.emplace(run, observed_frontier(settings));
  if (runs.size() > 1) return;
  auto dice = dice_for(curve, attack);
  curve.redrawn.reserve(kRedraws);
  for (size_t i = 0; i < kRedraws; ++i)
    curve.redrawn.push_back(redrawn_frontier(runs.begin()->second, dice));
}

bool same_curve(const CellResult& a, const CellResult& b) {
  return a.data == b.data && a.model == b.model && a.defense == b.defense && a.label == b.label &&
         ground_of(a) == ground_of(b);
}

UtilityCurve started(const CellResult& cell) {
  CellResult words;
  words.label = cell.label;
  words.swept = ground_of(cell);
  return {&cell, setting_text(words), {}, {}};
}

}  // namespace

std::vector<UtilityCurve> utility_curves(const Results& results, const std::string& attack) {
  std::vector<UtilityCurve> curves;
  std::vector<Trials> trials;
  for (const auto& cell : results.cells) {
    const auto* score = score_of(cell, attack);
    if (!score || !cell.test_accuracy || cell.foreign() || blindfolded(cell)) continue;
    const auto found = std::find_if(curves.begin(), curves.end(), [&](const auto& curve) {
      return same_curve(*curve.cell, cell);
    });
    const auto place = static_cast<size_t>(found - curves.begin());
    if (found == curves.end()) {
      curves.push_back(started(cell));
      trials.emplace_back();
    }
    trials[place][{cell.seed, cell.target}].push_back(trial_of(cell, *score));
  }
  for (size_t i = 0; i < curves.size(); ++i) draw(curves[i], trials[i], attack);
  return curves;
}

}  // namespace imprint
