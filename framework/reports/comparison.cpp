#include "framework/reports/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "framework/config/keys.h"

namespace imprint {
namespace {

/// Each end of the difference's interval is as far off as the two ends that push it there, in
/// quadrature: intervals of proportions are not symmetric.
Reading difference(const Reading& own, const Reading& rival) {
  Reading result{own.seed, own.target, own.value - rival.value, std::nullopt};
  if (!own.interval || !rival.interval) return result;
  const auto a = *own.interval, b = *rival.interval;
  result.interval = Interval{result.value - std::hypot(own.value - a.low, b.high - rival.value),
                             result.value + std::hypot(a.high - own.value, rival.value - b.low)};
  return result;
}

/// Over seeds if there are several, else over records; without either, everything is possible.
Interval interval_of(const std::optional<Spread>& spread) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Interval anything{-kInfinity, kInfinity};
  if (!spread) return anything;
  const auto found = spread->repeats ? *spread->repeats : spread->records.value_or(anything);
  return std::isnan(found.low) || std::isnan(found.high) ? anything : found;
}

/// The interval with the claimed side up.
Interval claimed(const Comparison& comparison, double sign) {
  const auto found = interval_of(comparison.difference);
  return sign > 0 ? found : Interval{-found.high, -found.low};
}

}  // namespace

Comparison compare(const Sample& own, const Sample& rival, std::string name) {
  std::vector<Reading> ours, theirs, differences;
  for (const auto& a : own.readings) {
    for (const auto& b : rival.readings) {
      if (a.seed != b.seed || a.target != b.target) continue;
      ours.push_back(a);
      theirs.push_back(b);
      differences.push_back(difference(a, b));
    }
  }
  if (differences.empty()) return {shown(own.mean()), shown(rival.mean()), std::nullopt, name};
  return {shown(spread(ours).mean), shown(spread(theirs).mean), spread(differences), name};
}

Comparison compare(const Sample& own, double limit) {
  auto fixed = own;
  for (auto& reading : fixed.readings) {
    reading.value = limit;
    reading.interval = Interval{limit, limit};
  }
  auto comparison = compare(own, fixed);
  comparison.rival = canonical(limit);
  return comparison;
}

Decision decide(const std::vector<Comparison>& comparisons, double sign, double margin) {
  const auto worst = [&](auto end) {
    return &*std::min_element(comparisons.begin(), comparisons.end(),
                              [&](const auto& a, const auto& b) {
                                return claimed(a, sign).*end < claimed(b, sign).*end;
                              });
  };
  const auto* refuted = worst(&Interval::high);
  if (claimed(*refuted, sign).high < -margin - kRounding) return {"fails", refuted};
  const auto* weakest = worst(&Interval::low);
  return {claimed(*weakest, sign).low > kRounding - margin ? "holds" : "undecided", weakest};
}

std::string decide_near(const Spread& measured, double value, double tolerance) {
  const auto found = interval_of(measured);
  const Interval allowed{value - tolerance - kRounding, value + tolerance + kRounding};
  if (found.low >= allowed.low && found.high <= allowed.high) return "holds";
  return found.low > allowed.high || found.high < allowed.low ? "fails" : "undecided";
}

std::string interval_text(const Comparison& comparison) {
  if (!comparison.difference) return "no seed in common";
  return interval_text("difference", *comparison.difference);
}

std::string interval_text(const std::string& what, const Spread& spread) {
  const auto value = fmt::format("{} {}", what, shown(spread.mean));
  const auto ends = [](const Interval& interval) {
    return fmt::format("[{}, {}]", shown(interval.low), shown(interval.high));
  };
  if (spread.repeats) {
    const auto noun = spread.over == "targets" ? "target" : "seed";
    return fmt::format("{} {}, {}", value, ends(*spread.repeats),
                       counted(spread.repetitions, noun));
  }
  if (spread.records)
    return fmt::format("{} {} over records, one seed", value, ends(*spread.records));
  return value + "; one seed, and no interval over records";
}

std::string shown(double value) {
  const double size = std::abs(value);
  return size > kRounding && size < 0.001 ? fmt::format("{:.2g}", value) : decimals(value);
}

}  // namespace imprint
