#include "framework/privacy/audit.h"

#include <algorithm>
#include <bit>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "framework/privacy/intervals.h"

namespace imprint {
namespace {

constexpr int kAuditRungs = 6;

void require_audit(bool holds, const std::string& otherwise) {
  if (!holds) throw std::invalid_argument(otherwise);
}

void check_audit_delta(double delta) {
  require_audit(delta >= 0 && delta <= 1,
                "delta is a probability between 0 and 1, not " + std::to_string(delta));
}

/// Returns the number of members.
int64_t check_audit(std::span<const double> scores, std::span<const uint8_t> member, double delta) {
  check_audit_delta(delta);
  require_audit(scores.size() == member.size(), "there are " + std::to_string(scores.size()) +
                                                    " scores for " + std::to_string(member.size()) +
                                                    " candidates");
  const auto nan =
      std::find_if(scores.begin(), scores.end(), [](double score) { return std::isnan(score); });
  require_audit(nan == scores.end(), "score " + std::to_string(nan - scores.begin()) +
                                         " is NaN: an audit ranks the candidates by their scores");
  return std::count_if(member.begin(), member.end(), [](uint8_t bit) { return bit != 0; });
}

/// In a random order. The mapping from random bits to positions is our own because that of the
/// standard library differs between implementations.
template <typename Value>
std::vector<Value> audit_shuffled(std::vector<Value> values, std::mt19937_64& generator) {
  for (size_t left = values.size(); left > 1; --left) {
    const double uniform = static_cast<double>(generator() >> 11) * 0x1p-53;
    std::swap(values[left - 1], values[static_cast<size_t>(uniform * static_cast<double>(left))]);
  }
  return values;
}

/// The scores of a decision "above the cut" and of those it should and should not hold for. At the
/// high end these are members and non-members.
struct AuditEnd {
  std::vector<double> positives, negatives;
};

/// The low end as a high one: negated, and non-members are the positives.
AuditEnd audit_mirrored(AuditEnd end) {
  for (auto& score : end.positives) score = -score;
  for (auto& score : end.negatives) score = -score;
  return {std::move(end.negatives), std::move(end.positives)};
}

/// The scores of one group, halved at random: those to choose on, and those to bound on.
auto audit_halves(std::span<const double> scores, std::span<const uint8_t> member, bool members,
                  std::mt19937_64& generator) {
  std::vector<double> group;
  for (size_t i = 0; i < scores.size(); ++i) {
    if ((member[i] != 0) == members) group.push_back(scores[i]);
  }
  group = audit_shuffled(std::move(group), generator);
  const auto middle = group.begin() + static_cast<std::ptrdiff_t>(group.size() / 2);
  return std::pair(std::vector(group.begin(), middle), std::vector(middle, group.end()));
}

/// The bound from `hits` of the positives and `false_alarms` of the negatives; may be negative.
double audit_bound(const AuditEnd& end, int64_t hits, int64_t false_alarms, double delta) {
  const auto positives = static_cast<int64_t>(end.positives.size());
  const auto negatives = static_cast<int64_t>(end.negatives.size());
  // The two-sided 95 % interval consists of one-sided limits at 97.5 %.
  const double rate = clopper_pearson(hits, positives).low - delta;
  if (rate <= 0) return -std::numeric_limits<double>::infinity();
  return std::log(rate / clopper_pearson(false_alarms, negatives).high);
}

struct AuditCut {
  double cut = 0, bound = -std::numeric_limits<double>::infinity();
};

AuditCut best_audit_cut(AuditEnd end, double delta) {
  std::sort(end.positives.begin(), end.positives.end(), std::greater<>());
  std::sort(end.negatives.begin(), end.negatives.end(), std::greater<>());
  const auto above = [](const std::vector<double>& sorted, double cut) {
    return std::lower_bound(sorted.begin(), sorted.end(), cut, std::greater<>()) - sorted.begin();
  };
  AuditCut best{end.negatives.front()};
  double tried = std::numeric_limits<double>::quiet_NaN();
  for (size_t k = 0; k < end.negatives.size(); k = std::max(k + 1, k * 5 / 4)) {
    const double cut = end.negatives[k];
    if (cut == tried) continue;
    tried = cut;
    const double bound =
        audit_bound(end, above(end.positives, cut), above(end.negatives, cut), delta);
    if (bound > best.bound) best = {cut, bound};
  }
  return best;
}

double audit_bound_at(const AuditEnd& end, double cut, double delta) {
  const auto above = [&](const std::vector<double>& scores) {
    return std::count_if(scores.begin(), scores.end(), [&](double score) { return score > cut; });
  };
  return audit_bound(end, above(end.positives), above(end.negatives), delta);
}

/// max_i P[v > W >= v - i] / i, the largest mean of the probabilities of v - 1, ..., v - i. They
/// rise to the mode and then fall, so that once one is below the mean the mean only falls. In
/// logarithms, because the first ones may underflow.
double one_run_excess(int64_t guesses, int64_t correct, double epsilon) {
  const auto r = static_cast<double>(guesses), v = static_cast<double>(correct);
  const double log_q = -std::log1p(std::exp(-epsilon));  // log(1 - q) = log_q - epsilon
  double log_chance = std::lgamma(r + 1) - std::lgamma(v) - std::lgamma(r - v + 2) + r * log_q -
                      (r - v + 1) * epsilon;
  double sum = 0, mean = 0;
  for (double i = 1; i <= v; ++i) {
    const double chance = std::exp(log_chance);
    if (chance < mean) break;
    sum += chance;
    mean = sum / i;
    const double w = v - i;
    log_chance += std::log(w / (r - w + 1)) - epsilon;
  }
  return mean;
}

/// A number that scores which differ anywhere do not share, but for chance.
uint64_t seed_of_scores(std::span<const double> scores) {
  uint64_t seed = scores.size();
  for (const double score : scores) {
    seed = (seed ^ std::bit_cast<uint64_t>(score)) * 0x9e3779b97f4a7c15;
    seed ^= seed >> 32;
  }
  return seed;
}

/// Membership of the canaries, the highest score first.
std::vector<uint8_t> one_run_ranking(std::span<const double> scores,
                                     std::span<const uint8_t> member) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::mt19937_64 generator(seed_of_scores(scores));
  order = audit_shuffled(std::move(order), generator);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  std::vector<uint8_t> ranking;
  for (const auto i : order) ranking.push_back(member[i] != 0 ? 1 : 0);
  return ranking;
}

}  // namespace

double epsilon_low(std::span<const double> scores, std::span<const uint8_t> member, double delta,
                   uint64_t seed) {
  const auto members = check_audit(scores, member, delta);
  const auto non_members = static_cast<int64_t>(member.size()) - members;
  require_audit(members > 0 && non_members > 0,
                "an audit needs members and non-members, but the candidates are " +
                    std::to_string(members) + " members and " + std::to_string(non_members) +
                    " non-members");
  if (members == 1 || non_members == 1) return 0;

  std::mt19937_64 generator(seed);
  auto in = audit_halves(scores, member, true, generator);
  auto out = audit_halves(scores, member, false, generator);
  const AuditEnd choice{std::move(in.first), std::move(out.first)};
  const AuditEnd rest{std::move(in.second), std::move(out.second)};
  const auto high = best_audit_cut(choice, delta);
  const auto low = best_audit_cut(audit_mirrored(choice), delta);
  const double bound = high.bound >= low.bound
                           ? audit_bound_at(rest, high.cut, delta)
                           : audit_bound_at(audit_mirrored(rest), low.cut, delta);
  return std::max(bound, 0.0);
}

double one_run_p_value(int64_t canaries, int64_t guesses, int64_t correct, double epsilon,
                       double delta) {
  require_audit(0 <= correct && correct <= guesses && guesses <= canaries,
                "a one-run audit cannot have " + std::to_string(correct) + " correct of " +
                    std::to_string(guesses) + " guesses about " + std::to_string(canaries) +
                    " canaries");
  check_audit_delta(delta);
  require_audit(epsilon >= 0, "epsilon is at least 0, not " + std::to_string(epsilon));
  if (correct == 0) return 1;
  const double q = 1 / (1 + std::exp(-epsilon));
  const boost::math::binomial correct_guesses(static_cast<double>(guesses), q);
  const double tail =
      boost::math::cdf(boost::math::complement(correct_guesses, static_cast<double>(correct - 1)));
  if (delta == 0) return tail;
  const double excess = one_run_excess(guesses, correct, epsilon);
  return std::min(1.0, tail + 2 * static_cast<double>(canaries) * delta * excess);
}

double one_run_epsilon(int64_t canaries, int64_t guesses, int64_t correct, double delta,
                       double confidence) {
  require_audit(confidence > 0 && confidence < 1,
                "a confidence lies between 0 and 1, not at " + std::to_string(confidence));
  const auto rejected = [&](double epsilon) {
    return one_run_p_value(canaries, guesses, correct, epsilon, delta) <= 1 - confidence;
  };
  if (!rejected(0)) return 0;
  double low = 0, high = 1;
  for (; rejected(high); high *= 2) low = high;
  for (int step = 0; step < 45; ++step) {
    const double middle = (low + high) / 2;
    (rejected(middle) ? low : high) = middle;
  }
  return low;
}

OneRun one_run_audit(std::span<const double> scores, std::span<const uint8_t> member,
                     double delta) {
  const auto members = check_audit(scores, member, delta);
  const auto m = static_cast<int64_t>(member.size());
  require_audit(
      std::abs(static_cast<double>(2 * members - m)) <= 5 * std::sqrt(static_cast<double>(m)),
      "a one-run audit needs canaries that were put in or left out by a fair coin, but " +
          std::to_string(members) + " of " + std::to_string(m) + " are members");
  const auto ranking = one_run_ranking(scores, member);
  const double confidence = 1 - 0.05 / kAuditRungs;
  OneRun best{.canaries = m};
  for (int rung = 0; rung < kAuditRungs; ++rung) {
    const int64_t k = m / (int64_t{2} << rung);
    if (k == 0) break;
    const auto correct = std::count(ranking.begin(), ranking.begin() + k, 1) +
                         std::count(ranking.end() - k, ranking.end(), 0);
    const double epsilon = one_run_epsilon(m, 2 * k, correct, delta, confidence);
    if (rung == 0 || epsilon > best.epsilon) best = {m, 2 * k, correct, epsilon};
  }
  return best;
}

}  // namespace imprint
