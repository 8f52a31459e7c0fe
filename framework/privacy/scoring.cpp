#include "framework/privacy/scoring.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <utility>

namespace imprint {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The candidates of one score.
struct Tie {
  double score = 0;
  int64_t members = 0, non_members = 0;
};

/// All candidates, the highest score first.
struct Ranking {
  std::vector<Tie> ties;
  int64_t members = 0, non_members = 0;
};

void check_size(const std::string& what, size_t given, size_t expected) {
  if (given == expected) return;
  throw std::invalid_argument("there are " + std::to_string(given) + " " + what + " for " +
                              std::to_string(expected) + " candidates");
}

void check_groups(int64_t members, int64_t non_members) {
  if (members > 0 && non_members > 0) return;
  throw std::invalid_argument(
      "an attack is measured on members and non-members, but the candidates are " +
      std::to_string(members) + " members and " + std::to_string(non_members) + " non-members");
}

Ranking rank(std::span<const double> scores, std::span<const uint8_t> member) {
  check_size("scores", scores.size(), member.size());
  std::vector<std::pair<double, bool>> sorted(scores.size());
  for (size_t i = 0; i < scores.size(); ++i) {
    if (std::isnan(scores[i])) {
      throw std::invalid_argument("score " + std::to_string(i) +
                                  " is NaN: an attack must give every candidate a number, if need "
                                  "be an infinite one");
    }
    sorted[i] = {scores[i], member[i] != 0};
  }
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  Ranking ranking;
  for (const auto& [score, is_member] : sorted) {
    auto& ties = ranking.ties;
    if (ties.empty() || ties.back().score != score) ties.push_back({score});
    ++(is_member ? ties.back().members : ties.back().non_members);
    ++(is_member ? ranking.members : ranking.non_members);
  }
  check_groups(ranking.members, ranking.non_members);
  return ranking;
}

Roc roc_of(const Ranking& ranking) {
  Roc curve{{kInfinity}, {0}, {0}};
  int64_t hits = 0, false_alarms = 0;
  for (const auto& tie : ranking.ties) {
    hits += tie.members;
    false_alarms += tie.non_members;
    curve.threshold.push_back(tie.score);
    curve.fpr.push_back(ratio(false_alarms, ranking.non_members));
    curve.tpr.push_back(ratio(hits, ranking.members));
  }
  return curve;
}

/// DeLong's structural components of the records of one tie: the share of the other group that a
/// member is rightly above, that a non-member is rightly below.
struct Placement {
  double member = 0, non_member = 0;
};

std::vector<Placement> components(const Ranking& ranking) {
  const auto m = static_cast<double>(ranking.members), n = static_cast<double>(ranking.non_members);
  std::vector<Placement> result;
  double members_above = 0, non_members_above = 0;
  for (const auto& tie : ranking.ties) {
    const auto a = static_cast<double>(tie.members), b = static_cast<double>(tie.non_members);
    result.push_back({(n - non_members_above - b / 2) / n, (members_above + a / 2) / m});
    members_above += a;
    non_members_above += b;
  }
  return result;
}

Auc auc_of(const Ranking& ranking) {
  const auto m = static_cast<double>(ranking.members), n = static_cast<double>(ranking.non_members);
  const auto parts = components(ranking);
  double area = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    area += static_cast<double>(ranking.ties[i].members) * parts[i].member;
  }
  area /= m;
  if (m == 1 || n == 1) return {area, kInfinity};
  double s10 = 0, s01 = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto& [score, a, b] = ranking.ties[i];
    s10 += static_cast<double>(a) * std::pow(parts[i].member - area, 2);
    s01 += static_cast<double>(b) * std::pow(parts[i].non_member - area, 2);
  }
  return {area, s10 / (m - 1) / m + s01 / (n - 1) / n};
}

TprAt tpr_at(const Roc& curve, double level, int64_t members, int64_t non_members) {
  // A rate k / n is the double nearest to it, and so is the level: comparing rates, not counts,
  // makes 1 of 1000 exactly 0.001.
  const auto above = std::upper_bound(curve.fpr.begin(), curve.fpr.end(), level);
  const auto i = static_cast<size_t>(above - curve.fpr.begin()) - 1;
  TprAt result;
  result.fpr = level;
  result.fpr_realised = curve.fpr[i];
  result.tpr = curve.tpr[i];
  result.hits = std::llround(curve.tpr[i] * static_cast<double>(members));
  result.members = members;
  result.interval = clopper_pearson(result.hits, members);
  result.enough = ratio(1, non_members) <= level;
  return result;
}

}  // namespace

std::span<const double> reported_fprs() {
  static constexpr std::array<double, 3> kLevels = {0.001, 0.01, 0.1};
  return kLevels;
}

Roc roc(std::span<const double> scores, std::span<const uint8_t> member) {
  return roc_of(rank(scores, member));
}

Auc auc(std::span<const double> scores, std::span<const uint8_t> member) {
  return auc_of(rank(scores, member));
}

Roc thinned(const Roc& curve, size_t points) {
  if (points < 2) {
    throw std::invalid_argument("a curve keeps its two ends, so it cannot be thinned to " +
                                std::to_string(points) + " points");
  }
  const size_t n = curve.fpr.size();
  if (n <= points) return curve;
  const size_t low = (points - 2) / 2, even = points - low;
  std::vector<size_t> kept;
  for (size_t i = 0; i < even; ++i) kept.push_back(i * (n - 1) / (even - 1));
  // Even steps alone would miss what a logarithmic axis shows: the top at FPR 0 and the rates from
  // the smallest positive one upwards.
  const double smallest = *std::upper_bound(curve.fpr.begin(), curve.fpr.end(), 0.0);
  for (size_t i = 0; i < low; ++i) {
    const double exponent = 1 - (static_cast<double>(i) - 1) / static_cast<double>(low);
    const double rate = i == 0 ? 0 : std::pow(smallest, exponent);
    const auto above = std::upper_bound(curve.fpr.begin(), curve.fpr.end(), rate);
    kept.push_back(static_cast<size_t>(above - curve.fpr.begin()) - 1);
  }
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  Roc result;
  for (const size_t i : kept) {
    result.threshold.push_back(curve.threshold[i]);
    result.fpr.push_back(curve.fpr[i]);
    result.tpr.push_back(curve.tpr[i]);
  }
  return result;
}

Score score(std::span<const double> scores, std::span<const uint8_t> decisions,
            std::span<const uint8_t> member) {
  if (!decisions.empty()) check_size("decisions", decisions.size(), member.size());
  const auto ranking = rank(scores, member);
  int64_t hits = 0, false_alarms = 0;
  for (size_t i = 0; i < decisions.size(); ++i) {
    if (decisions[i] != 0) ++(member[i] != 0 ? hits : false_alarms);
  }
  Score result;
  result.decided = !decisions.empty();
  const int64_t m = result.members = ranking.members;
  const int64_t n = result.non_members = ranking.non_members;
  result.tpr = result.recall = ratio(hits, m);
  result.fpr = ratio(false_alarms, n);
  result.precision = hits == 0 ? 0 : ratio(hits, hits + false_alarms);
  result.advantage = result.tpr - result.fpr;
  result.advantage_interval = newcombe(hits, m, false_alarms, n);
  const auto curve = roc_of(ranking);
  for (size_t i = 0; i < curve.fpr.size(); ++i) {
    result.advantage_best = std::max(result.advantage_best, curve.tpr[i] - curve.fpr[i]);
  }
  const auto area = auc_of(ranking);
  result.auc = area.value;
  result.auc_interval = auc_interval(area.value, area.variance, m, n);
  for (const double level : reported_fprs()) result.tpr_at.push_back(tpr_at(curve, level, m, n));
  return result;
}

double best_threshold(std::span<const double> scores, std::span<const uint8_t> member) {
  const auto ranking = rank(scores, member);
  double best = kInfinity;
  int64_t best_gain = std::numeric_limits<int64_t>::min();
  int64_t hits = 0, false_alarms = 0;
  for (const auto& tie : ranking.ties) {
    hits += tie.members;
    false_alarms += tie.non_members;
    // tpr - fpr times both group sizes: whole numbers, so that equally good means equal.
    const int64_t gain = hits * ranking.non_members - false_alarms * ranking.members;
    if (gain <= best_gain) continue;
    best_gain = gain;
    best = tie.score;
  }
  return best;
}

std::vector<double> class_thresholds(std::span<const double> scores,
                                     std::span<const uint8_t> member, std::span<const int64_t> y,
                                     int64_t classes) {
  check_size("labels", y.size(), member.size());
  // Candidates in the order of their classes; class k is from starts[k] to starts[k + 1].
  std::vector<size_t> starts(static_cast<size_t>(classes) + 1);
  for (const auto label : y) ++starts[static_cast<size_t>(label) + 1];
  for (size_t k = 1; k < starts.size(); ++k) starts[k] += starts[k - 1];
  auto next = starts;
  std::vector<double> sorted_scores(scores.size());
  std::vector<uint8_t> sorted_member(scores.size());
  for (size_t i = 0; i < scores.size(); ++i) {
    const auto at = next[static_cast<size_t>(y[i])]++;
    sorted_scores[at] = scores[i];
    sorted_member[at] = member[i];
  }
  std::vector<double> thresholds(static_cast<size_t>(classes), best_threshold(scores, member));
  for (size_t k = 0; k < thresholds.size(); ++k) {
    const auto count = starts[k + 1] - starts[k];
    const std::span<const uint8_t> members(sorted_member.data() + starts[k], count);
    const auto inside = static_cast<size_t>(std::count(members.begin(), members.end(), 1));
    if (inside == 0 || inside == count) continue;
    thresholds[k] = best_threshold({sorted_scores.data() + starts[k], count}, members);
  }
  return thresholds;
}

}  // namespace imprint
