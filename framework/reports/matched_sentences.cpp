#include <fmt/format.h>

#include <algorithm>

#include "framework/reports/matched_utility.h"

namespace imprint {
namespace {

using nlohmann::json;

std::string in_words(const std::string& name, bool undefended) {
  return undefended && name.starts_with("none") ? "the undefended model" + name.substr(4) : name;
}

/// Whether a difference cannot be seen in three decimals.
bool vanishes(double difference) { return decimals(difference) == decimals(0.0); }

/// The difference seen from the curve that leaks less.
struct Lead {
  std::string leader, other;
  double amount = 0;
  std::optional<Interval> interval;
};

Lead lead(const MatchedPair& pair, const MatchedDifference& difference) {
  const auto& spread = difference.spread;
  const auto own = in_words(pair.own, pair.own_undefended);
  const auto rival = in_words(pair.rival, pair.rival_undefended);
  const auto interval = spread.repeats ? spread.repeats : spread.records;
  if (spread.mean > 0 && !vanishes(spread.mean)) return {rival, own, spread.mean, interval};
  Lead result{own, rival, -spread.mean, interval};
  if (interval) result.interval = Interval{-interval->high, -interval->low};
  return result;
}

/// "one seed", "2 of 3 seeds".
std::string runs_text(const MatchedPair& pair, const Spread& spread) {
  const auto& over = spread.repeats ? spread.over : pair.over;
  if (over != pair.over || spread.repetitions == pair.repetitions)
    return counted(spread.repetitions, over == "targets" ? "target" : "seed");
  const auto some = spread.repetitions == 1 ? "one" : std::to_string(spread.repetitions);
  return fmt::format("{} of {} {}", some, pair.repetitions, over);
}

/// "95 % over 3 seeds: 0.041 to 0.125".
std::string certainty(const MatchedPair& pair, const Spread& spread, const Lead& lead) {
  const auto runs = runs_text(pair, spread);
  if (!lead.interval) return runs + ", so no interval";
  return fmt::format("95 % over {}{}: {} to {}", spread.repeats ? "" : "records of ", runs,
                     decimals(lead.interval->low), decimals(lead.interval->high));
}

bool may_be_chance(const Lead& lead) { return lead.interval && lead.interval->low <= 0; }

/// "0.083 less than dropout".
std::string amount_text(const Lead& lead) {
  if (vanishes(lead.amount)) return "as much as " + lead.other;
  return fmt::format("{} less than {}", decimals(lead.amount), lead.other);
}

const char* doubt(const Lead& lead) {
  return may_be_chance(lead) && !vanishes(lead.amount) ? ", which may be chance" : "";
}

std::string place_text(const MatchedPair& pair) {
  if (pair.undefended)
    return fmt::format("At the undefended accuracy of {}", decimals(pair.undefended->accuracy));
  return fmt::format("At an accuracy of {}, the middle of what both reach",
                     decimals(pair.middle->accuracy));
}

std::string not_compared(const MatchedPair& pair) {
  return fmt::format("{} and {} {} in common, so they cannot be compared at matched utility.",
                     in_words(pair.own, pair.own_undefended),
                     in_words(pair.rival, pair.rival_undefended),
                     pair.repetitions == 0 ? "have no seed" : "reach no accuracy");
}

/// How much less `curve` leaks than the other one of the pair, at the undefended accuracy.
double margin(const MatchedPair& pair, const std::string& curve) {
  const double difference = pair.undefended->spread.mean;
  return pair.own == curve ? -difference : difference;
}

/// A curve and those of its pairs that can be compared at the undefended accuracy.
struct Contest {
  std::string curve;
  std::vector<const MatchedPair*> rivals, undefended;

  /// Against the closest rival, or the undefended model where there is no rival; null where the
  /// curve leaks no less than one of them.
  const MatchedPair* closest() const {
    const auto& pairs = rivals.empty() ? undefended : rivals;
    const auto least = std::min_element(pairs.begin(), pairs.end(), [&](auto* a, auto* b) {
      return margin(*a, curve) < margin(*b, curve);
    });
    if (least == pairs.end() || vanishes(margin(**least, curve))) return nullptr;
    return margin(**least, curve) > 0 ? *least : nullptr;
  }
};

void enter(std::vector<Contest>& contests, const std::string& curve, bool against_undefended,
           const MatchedPair& pair) {
  auto found = std::find_if(contests.begin(), contests.end(),
                            [&](const Contest& each) { return each.curve == curve; });
  if (found == contests.end()) found = contests.insert(found, {curve, {}, {}});
  (against_undefended ? found->undefended : found->rivals).push_back(&pair);
}

std::vector<Contest> contests_of(const std::vector<MatchedPair>& pairs) {
  std::vector<Contest> contests;
  for (const auto& pair : pairs) {
    if (!pair.undefended) continue;
    if (!pair.own_undefended) enter(contests, pair.own, pair.rival_undefended, pair);
    if (!pair.rival_undefended) enter(contests, pair.rival, pair.own_undefended, pair);
  }
  return contests;
}

json difference_json(const std::optional<MatchedDifference>& difference) {
  if (!difference) return nullptr;
  const auto& spread = difference->spread;
  const auto& interval = spread.repeats ? spread.repeats : spread.records;
  const auto over = spread.repeats ? json(spread.over) : interval ? json("records") : json();
  return {{"accuracy", difference->accuracy},
          {"difference", spread.mean},
          {"low", interval ? json(interval->low) : json()},
          {"high", interval ? json(interval->high) : json()},
          {"over", over},
          {"repetitions", spread.repetitions}};
}

json pair_json(const MatchedPair& pair) {
  const auto& shared = pair.shared;
  return {{"data", pair.task.data},
          {"model", pair.task.model},
          {"own", pair.own},
          {"rival", pair.rival},
          {"attack", pair.attack.empty() ? json() : json(pair.attack)},
          {"repetitions", pair.repetitions},
          {"shared", shared ? json{shared->low, shared->high} : json()},
          {"undefended", difference_json(pair.undefended)},
          {"middle", difference_json(pair.middle)},
          {"mean", difference_json(pair.mean)},
          {"order", pair.order}};
}

json pareto_json(const ParetoSetting& setting) {
  return {{"data", setting.task.data},
          {"model", setting.task.model},
          {"setting", setting.setting},
          {"attack", setting.attack},
          {"test_accuracy", setting.accuracy.mean},
          {"advantage", setting.advantage.mean}};
}

}  // namespace

std::string matched_sentence(const MatchedPair& pair) {
  if (!pair.middle) return not_compared(pair);
  const auto& difference = pair.undefended ? *pair.undefended : *pair.middle;
  const auto seen = lead(pair, difference);
  return fmt::format("{}, {} leaks {}{} ({}).", place_text(pair), seen.leader, amount_text(seen),
                     doubt(seen), certainty(pair, difference.spread, seen));
}

std::string leading_sentence(const std::vector<MatchedPair>& pairs) {
  const MatchedPair* best = nullptr;
  size_t rivals = 0;
  const auto contests = contests_of(pairs);
  for (const auto& contest : contests) {
    const auto* closest = contest.closest();
    if (!closest || (best && best->undefended->accuracy >= closest->undefended->accuracy)) continue;
    best = closest;
    rivals = contest.rivals.size();
  }
  if (!best) return "";
  if (rivals < 2) return matched_sentence(*best);
  const auto seen = lead(*best, *best->undefended);
  return fmt::format("{}, {} leaks least of the {} defenses that reach it: {}, the next{} ({}).",
                     place_text(*best), seen.leader, rivals + 1, amount_text(seen), doubt(seen),
                     certainty(*best, best->undefended->spread, seen));
}

std::vector<std::string> attacks_of(const Results& results) {
  std::vector<std::string> names;
  for (const auto& cell : results.cells)
    for (const auto& each : cell.attacks)
      if (std::find(names.begin(), names.end(), each.attack) == names.end())
        names.push_back(each.attack);
  return names;
}

json matched_json(const Results& results) {
  json out = {{"pairs", json::array()}, {"pareto", json::array()}};
  auto attacks = attacks_of(results);
  attacks.insert(attacks.begin(), "");
  for (const auto& attack : attacks)
    for (const auto& pair : matched_pairs(results, attack)) out["pairs"].push_back(pair_json(pair));
  for (const auto& setting : pareto_front(results)) out["pareto"].push_back(pareto_json(setting));
  return out;
}

}  // namespace imprint
