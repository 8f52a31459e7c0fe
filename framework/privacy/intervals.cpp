#include "framework/privacy/intervals.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

namespace imprint {
namespace {

double normal_quantile(double level) {
  return boost::math::quantile(boost::math::normal(), (1 + level) / 2);
}

void check_proportion(int64_t hits, int64_t n) {
  if (hits >= 0 && hits <= n) return;
  throw std::invalid_argument("a proportion cannot have " + std::to_string(hits) + " hits of " +
                              std::to_string(n));
}

/// Clopper-Pearson, with hits that need not be whole.
Interval exact(double hits, double n, double level) {
  using Binomial = boost::math::binomial;
  const double tail = (1 - level) / 2;
  return {Binomial::find_lower_bound_on_p(n, hits, tail),
          Binomial::find_upper_bound_on_p(n, hits, tail)};
}

Interval wilson(double hits, double n, double z) {
  const double p = hits / n;
  const double centre = (hits + z * z / 2) / (n + z * z);
  const double half = z * std::sqrt(n * p * (1 - p) + z * z / 4) / (n + z * z);
  return {centre - half, centre + half};
}

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

Interval clopper_pearson(int64_t hits, int64_t n, double level) {
  check_proportion(hits, n);
  if (n == 0) return {0, 1};
  return exact(static_cast<double>(hits), static_cast<double>(n), level);
}

Interval newcombe(int64_t hits1, int64_t n1, int64_t hits2, int64_t n2, double level) {
  check_proportion(hits1, n1);
  check_proportion(hits2, n2);
  if (n1 == 0 || n2 == 0) {
    throw std::invalid_argument("a difference of proportions needs records in both groups, not " +
                                std::to_string(n1) + " and " + std::to_string(n2));
  }
  const double z = normal_quantile(level);
  const double p1 = static_cast<double>(hits1) / static_cast<double>(n1);
  const double p2 = static_cast<double>(hits2) / static_cast<double>(n2);
  const auto w1 = wilson(static_cast<double>(hits1), static_cast<double>(n1), z);
  const auto w2 = wilson(static_cast<double>(hits2), static_cast<double>(n2), z);
  return {std::max(-1.0, p1 - p2 - std::hypot(p1 - w1.low, w2.high - p2)),
          std::min(1.0, p1 - p2 + std::hypot(w1.high - p1, p2 - w2.low))};
}

Interval mean_interval(std::span<const double> values, double level) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (values.size() < 2) return {-kInfinity, kInfinity};
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double t = boost::math::quantile(boost::math::students_t(n - 1), (1 + level) / 2);
  const double half = t * std::sqrt(squares / (n - 1) / n);
  return {mean - half, mean + half};
}

Interval auc_interval(double auc, double variance, int64_t members, int64_t non_members,
                      double level) {
  if (!(variance > 0) || std::isinf(variance) || auc <= 0 || auc >= 1) {
    const auto n = static_cast<double>(std::min(members, non_members));
    return exact(auc * n, n, level);
  }
  const double logit = std::log(auc / (1 - auc));
  const double half = normal_quantile(level) * std::sqrt(variance) / (auc * (1 - auc));
  return {logistic(logit - half), logistic(logit + half)};
}

}  // namespace imprint
