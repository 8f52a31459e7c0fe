#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>

namespace imprint {

/// Draws for resampling, the same bits for the same seed. The mapping from random bits to numbers
/// is our own because those of the standard library differ between implementations.
class Dice {
 public:
  explicit Dice(uint64_t seed) : generator_(seed) {}

  /// In (0, 1).
  double uniform() { return (static_cast<double>(generator_() >> 11) + 0.5) * 0x1p-53; }

  /// One of 0..n-1.
  uint64_t below(uint64_t n) { return static_cast<uint64_t>(uniform() * static_cast<double>(n)); }

  /// Standard normal (Box and Muller 1958).
  double normal() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

  /// How many of n trials succeed, each with probability p.
  int64_t binomial(int64_t n, double p) {
    if (n == 0 || p >= 1) return n;
    if (p > 0.5) return n - binomial(n, 1 - p);
    return static_cast<double>(n) * p < 10 ? by_inversion(n, p) : by_rejection(n, p);
  }

 private:
  int64_t by_inversion(int64_t n, double p) {
    const double odds = p / (1 - p);
    const auto trials = static_cast<double>(n);
    double chance = std::exp(trials * std::log1p(-p)), left = uniform();
    int64_t hits = 0;
    while (left > chance && hits < n) {
      left -= chance;
      ++hits;
      chance *= odds * ((trials + 1) / static_cast<double>(hits) - 1);
    }
    return hits;
  }

  /// Hormann 1993, "The generation of binomial random variates", algorithm BTRS.
  int64_t by_rejection(int64_t n, double p) {
    const auto trials = static_cast<double>(n);
    const double spread = std::sqrt(trials * p * (1 - p));
    const double b = 1.15 + 2.53 * spread, a = -0.0873 + 0.0248 * b + 0.01 * p;
    const double centre = trials * p + 0.5, mode = std::floor((trials + 1) * p);
    const auto weight = [&](double k) { return -std::lgamma(k + 1) - std::lgamma(trials - k + 1); };
    while (true) {
      const double u = uniform() - 0.5, v = uniform();
      const double edge = 0.5 - std::abs(u), k = std::floor((2 * a / edge + b) * u + centre);
      if (k < 0 || k > trials) continue;
      if (edge >= 0.07 && v <= 0.92 - 4.2 / b) return static_cast<int64_t>(k);
      const double height = v * (2.83 + 5.1 / b) * spread / (a / (edge * edge) + b);
      if (std::log(height) <= weight(k) - weight(mode) + (k - mode) * std::log(p / (1 - p)))
        return static_cast<int64_t>(k);
    }
  }

  std::mt19937_64 generator_;
};

}  // namespace imprint
