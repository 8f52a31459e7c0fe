#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "framework/reports/results.h"
#include "framework/runs/experiment.h"

namespace imprint {

/// That `shadows.until` names an attack of its experiment and a column of results.csv or a metric.
void check_until(const Experiment& experiment, Problems& problems);

/// An audit that adds shadows until it knows enough: settings with `shadows.until` begin with two
/// shadows per target, and as long as the interval of their metric is too wide their number is
/// doubled, up to `shadows.count`. It is decided at these numbers only, whatever else is stored, so
/// that the same file always ends with the same number.
class Stages {
 public:
  /// `full` is the experiment with all shadows; it must outlive the stages.
  explicit Stages(const Experiment& full);

  /// Whether any setting asks for it.
  bool wanted() const { return !shadows_.empty(); }
  /// The experiment with as many shadows (and with `targets: all` as many targets) as were decided
  /// on.
  Experiment current() const;
  /// Looks at the results of `current`; true: some setting needs more shadows.
  bool advance(const Results& results);
  /// What was seen at each number of shadows.
  const std::vector<Stage>& seen() const { return seen_; }

  /// What was decided, for workers elsewhere.
  nlohmann::json to_json() const { return shadows_; }
  void restore(const nlohmann::json& json) { shadows_ = json; }

 private:
  const Experiment& full_;
  std::map<std::string, int64_t> shadows_;  ///< setting -> shadows, where `until` is asked for
  std::vector<Stage> seen_;
};

}  // namespace imprint
