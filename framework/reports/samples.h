#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "framework/reports/selector.h"
#include "framework/reports/summary.h"
#include "framework/reports/tables.h"

namespace imprint {

/// Sums of doubles that should be equal differ by less than this.
inline constexpr double kRounding = 1e-12;

/// What is measured: a numeric column of results.csv under an attack, or a metric of metrics.csv.
/// The attack is a name or a name with its variant; empty is any.
struct Quantity {
  std::string metric, attack;
};

/// Whether an attack is the wanted one or a variant of it: "confidence" fits "confidence (of=max)".
/// Empty fits all.
bool fits(const std::string& wanted, const std::string& attack);

/// One quantity of one setting, over its seeds. The rows belong to the caller.
struct Sample {
  std::vector<const ResultRow*> rows;  ///< never empty
  std::vector<Reading> readings;       ///< one per cell that has the quantity
  std::string attack;  ///< under which it was read; empty where the attack does not matter

  const CellResult& cell() const { return *rows.front()->cell; }
  double mean() const { return spread(readings).mean; }
};

/// A claim is about something that the results do not hold; `what()` says about what.
class Missing : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A quantity of the setting that the rows belong to. Of several attacks that fit, the one with the
/// largest mean advantage is taken. There may be no readings.
Sample sample(const std::vector<const ResultRow*>& rows, const Quantity& quantity);

/// One sample per setting that the selector matches and that has the quantity. Throws Missing when
/// there is none.
std::vector<Sample> samples(const std::vector<ResultRow>& rows, const Selector& selector,
                            const Quantity& quantity);

/// The sample of the highest rank, the first of equals; NaN ranks last. `samples` must not be
/// empty.
const Sample& best(const std::vector<Sample>& samples,
                   const std::function<double(const Sample&)>& rank);

/// The sample with the largest mean, or with a `sign` of -1 the smallest.
const Sample& extreme(const std::vector<Sample>& samples, double sign);

}  // namespace imprint
