#pragma once

#include <optional>
#include <string>
#include <vector>

#include "framework/config/problems.h"

namespace imprint {

struct Entry;

/// One node of an experiment file, as written: a tree (aliases are copied in), every node with its
/// place in the file. The tag is kept only where it is one of ours (`!sweep`).
struct Value {
  enum class Kind { null, scalar, list, map };

  Kind kind = Kind::null;
  Mark mark;
  bool sweep = false;   ///< a list tagged `!sweep`
  bool quoted = false;  ///< a scalar in quotes is text, whatever it looks like
  std::string text;     ///< of a scalar
  std::vector<Value> items;
  std::vector<Entry> entries;  ///< of a map, in the order of the file

  static Value scalar(std::string text, bool quoted = false);
  static Value list(std::vector<Value> items);
  static Value map();

  bool is_map() const { return kind == Kind::map; }
  bool is_list() const { return kind == Kind::list; }
  bool is_scalar() const { return kind == Kind::scalar; }
  const Value* find(const std::string& key) const;
  Value* find(const std::string& key);
  /// Adds or replaces an entry of a map.
  void set(const std::string& key, Value value);
};

/// A key of a map with its own place in the file.
struct Entry {
  std::string key;
  Mark mark;
  Value value;
};

/// Parses one YAML document. Throws ConfigError for whatever is not plain YAML, for duplicate keys,
/// cyclic aliases, unknown tags and several documents.
Value parse_yaml(const std::string& text, const std::string& file);

/// Reads and parses a file. `at` is the place that named it, for the message when it is missing.
Value read_yaml(const std::string& file, const Mark& at = {});

/// Block-style YAML that parses back to the same tree.
std::string to_yaml(const Value& value);

/// One line of flow-style YAML: "{name: ccl, alpha: 0.5}".
std::string to_flow(const Value& value);

/// `over` on top of `under`: maps merge key by key, everything else is replaced. A map that names
/// another component (`name` differs) replaces the whole map: its keys are that component's.
Value merged(const Value& under, const Value& over);

/// Sets `defenses[1].alpha`-like paths; missing maps on the way are made. Throws ConfigError at
/// `mark` for a path that leads nowhere.
void set_path(Value& root, const std::string& path, Value value, const Mark& mark);

/// The value at such a path, or null.
Value* at_path(Value& root, const std::string& path);

/// One point of a sweep: the tree without `!sweep`, and what was chosen, path by path.
struct Variant {
  Value value;
  std::vector<std::pair<std::string, Value>> choices;
};

/// All points of the product of all `!sweep` lists in the tree, the first axis slowest.
std::vector<Variant> expand_sweeps(const Value& value);

}  // namespace imprint
