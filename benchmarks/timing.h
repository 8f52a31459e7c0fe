#pragma once

#include <algorithm>
#include <chrono>

namespace imprint {

using Clock = std::chrono::steady_clock;

inline double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Seconds of the fastest of several calls.
template <class Work>
double fastest(int times, const Work& work) {
  double best = 1e30;
  for (int i = 0; i < times; ++i) {
    const auto start = Clock::now();
    work();
    best = std::min(best, since(start));
  }
  return best;
}

}  // namespace imprint
