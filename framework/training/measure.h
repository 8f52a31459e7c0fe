#pragma once

#include <optional>
#include <string>
#include <vector>

#include "framework/training/evaluation.h"

namespace imprint {

/// One scalar that a measure or an attack found.
struct Metric {
  std::string name;
  double value = 0;
  std::optional<double> low, high;
  std::optional<int64_t> n;  ///< records it was computed from
  std::optional<int64_t> epoch;
};

/// Where measures and attacks put their scalars.
struct Log {
  std::vector<Metric> metrics;
  std::optional<int64_t> epoch;  ///< set by the trainer while training goes on

  void metric(const std::string& name, double value, std::optional<int64_t> n = std::nullopt) {
    metrics.push_back({name, value, std::nullopt, std::nullopt, n, epoch});
  }
};

/// The released model and the pieces it is judged by.
struct Finished {
  const Trained& trained;
  const Split& split;
  Evaluation& evaluation;
};

/// The defender's eye: sees everything, accuses nobody, changes no bit of the training. Components
/// in framework/measures.
class Measure {
 public:
  virtual ~Measure() = default;
  virtual void step(const Step&, const Batch&) {}
  /// At epochs that are evaluated (train.evaluate) and after the last.
  virtual void epoch(const Epoch&, Evaluation&, Log&) {}
  /// Once per released model.
  virtual void trained(const Finished&, Log&) {}
  /// Everything that `step` and `epoch` change, but for what is in the log.
  virtual void state(State&) {}
};

using MeasureRegistry = Registry<Measure>;

/// The hooks that `Type` overrides.
template <class Type>
std::vector<std::string> measure_hooks() {
  std::vector<std::string> hooks;
#define IMPRINT_HOOK(hook) \
  if (!std::is_same_v<decltype(&Type::hook), decltype(&Measure::hook)>) hooks.push_back(#hook)
  IMPRINT_HOOK(step);
  IMPRINT_HOOK(epoch);
  IMPRINT_HOOK(trained);
#undef IMPRINT_HOOK
  return hooks;
}

/// IMPRINT_MEASURE(Type, "name", "summary", "paper, equation");
#define IMPRINT_MEASURE(Type, name, summary, paper)                                              \
  static const ::imprint::Registration<::imprint::MeasureRegistry, Type> registration_of_##Type( \
      {"measure", name, summary, paper, __FILE__, ::imprint::measure_hooks<Type>()})

}  // namespace imprint
