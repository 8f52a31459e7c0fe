#include "framework/reports/frontier.h"

#include <algorithm>
#include <limits>

namespace imprint {
namespace {

bool within(const Interval& interval, double value) {
  return value >= interval.low && value <= interval.high;
}

/// The line between two corners.
double on_line(const TradeOff& left, const TradeOff& right, double accuracy) {
  const double share = (accuracy - left.accuracy) / (right.accuracy - left.accuracy);
  return left.advantage + share * (right.advantage - left.advantage);
}

}  // namespace

Frontier::Frontier(std::vector<TradeOff> settings) {
  std::sort(settings.begin(), settings.end(), [](const TradeOff& a, const TradeOff& b) {
    return a.accuracy != b.accuracy ? a.accuracy > b.accuracy : a.advantage < b.advantage;
  });
  range_ = {settings.back().accuracy, settings.front().accuracy};
  corners_.reserve(settings.size());
  double lowest = std::numeric_limits<double>::infinity();
  for (const auto& setting : settings) {
    if (setting.advantage >= lowest) continue;
    lowest = setting.advantage;
    corners_.push_back(setting);
  }
  std::reverse(corners_.begin(), corners_.end());
}

double Frontier::at(double accuracy) const {
  const auto right = std::lower_bound(
      corners_.begin(), corners_.end(), accuracy,
      [](const TradeOff& corner, double value) { return corner.accuracy < value; });
  // Left of the first corner there are settings, but each of them leaks more than that corner.
  if (right == corners_.begin()) return corners_.front().advantage;
  if (right == corners_.end()) return corners_.back().advantage;
  return on_line(*(right - 1), *right, accuracy);
}

double Frontier::mean(const Interval& part) const {
  const double width = part.high - part.low;
  if (width <= 0) return at((part.low + part.high) / 2);
  TradeOff last{part.low, at(part.low)};
  double area = 0;
  const auto advance = [&](const TradeOff& next) {
    area += (next.accuracy - last.accuracy) * (last.advantage + next.advantage) / 2;
    last = next;
  };
  for (const auto& corner : corners_)
    if (corner.accuracy > part.low && corner.accuracy < part.high) advance(corner);
  advance({part.high, at(part.high)});
  return area / width;
}

Interval shared_range(const Frontier& a, const Frontier& b) {
  return {std::max(a.range().low, b.range().low), std::min(a.range().high, b.range().high)};
}

int order(const Frontier& own, const Frontier& rival) {
  const auto shared = shared_range(own, rival);
  // The difference bends at corners only, so that its extremes are there or at the ends.
  std::vector<double> places = {shared.low, shared.high};
  for (const auto* each : {&own, &rival})
    for (const auto& corner : each->corners()) places.push_back(corner.accuracy);
  bool below = true, above = true;
  for (const double place : places) {
    if (!within(shared, place)) continue;
    below = below && own.at(place) < rival.at(place);
    above = above && own.at(place) > rival.at(place);
  }
  return below == above ? 0 : below ? -1 : 1;
}

}  // namespace imprint
