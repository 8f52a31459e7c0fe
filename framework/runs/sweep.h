#pragma once

#include <string>
#include <utility>
#include <vector>

#include "framework/config/value.h"
#include "framework/registry/registry.h"

namespace imprint {

/// One point of the sweep, seeds aside: the experiment with its choices made, and one defense.
struct DefensePoint {
  Value root;                ///< without sweeps, and with the entry's `with` applied
  std::vector<Value> chain;  ///< the entry's defenses
  Mark mark;
  size_t entry = 0;       ///< its place in `defenses`
  bool is_chain = false;  ///< the entry is a list
  std::string label;
  std::vector<std::pair<std::string, std::string>> swept;
};

/// All points: sweeps outside defenses and attacks, times the entries of `defenses` with theirs. A
/// file without `defenses` has one undefended point.
std::vector<DefensePoint> defense_points(const Value& root, Problems& problems);

/// "alpha=0.2 beta=1": the last words of the paths, with their values.
std::string choice_words(const std::vector<std::pair<std::string, Value>>& choices);

/// A file name for a cell that says what it is.
std::string unique_id(const std::string& label,
                      const std::vector<std::pair<std::string, std::string>>& swept, int64_t seed,
                      size_t number);

/// `written` with the entries of `defaults` that it lacks, at every depth, and with paths resolved.
Value with_defaults(const Value& written, const Value& defaults);

/// The component's resolved keys as a map that starts with its name.
template <class Interface>
Value with_name(const Built<Interface>& built) {
  auto map = Value::map();
  map.set("name", Value::scalar(built.about->name));
  const auto keys = built.reading->resolved();
  for (const auto& entry : keys.entries) map.set(entry.key, entry.value);
  return map;
}

/// What two maps agree on, at every depth.
Value agreed(const Value& a, const Value& b);

/// The resolved sections of all points. Only what all of them agree on is a default that can be
/// written into the file: a sweep or a `with` may give each point another.
class Defaults {
 public:
  /// Adds one point's section, such as "train"; `key` may be a path such as "defenses[2]".
  void add(const std::string& key, const Value& resolved);
  /// Writes the defaults where the file says nothing; swept entries are left alone.
  void write(Value& root) const;

 private:
  std::vector<std::pair<std::string, Value>> sections_;
};

}  // namespace imprint
