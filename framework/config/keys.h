#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "framework/config/value.h"

namespace imprint {

/// What a component says about one of its keys; `imprint explain` prints it.
struct KeyDoc {
  std::string path, type, fallback, range, doc;
  bool late = false;
};

/// One key as it was read, in canonical form: 0.10 and 1e-1 are the same value.
struct KeyValue {
  std::string path;
  Value value;
  bool late = false;
  std::string contents =
      {};  ///< of the file it names: its digest, which counts instead of the name
};

/// Everything that was read from one map: the documentation, the canonical values, the problems.
struct KeyLog {
  std::string owner;  ///< "defense 'ccl'", for messages
  Problems* problems = nullptr;
  std::vector<KeyDoc> docs;
  std::vector<KeyValue> values;

  /// The map with every default written out.
  Value resolved() const;
  /// Canonical text of the values that matter: all, or only those that are not late.
  std::string address(bool with_late) const;
};

template <class T>
class Key;

/// The keys of one component or section. A component's keys are the keys it reads: reading
/// declares them, so documentation, validation, defaults and addresses come from one place.
/// Cheap to copy. Problems are collected, never thrown: a bad value yields the default and the
/// error is raised once everything has been read.
class Keys {
 public:
  /// `map` must outlive the Keys. It may be a map or null (no keys).
  Keys(const Value& map, std::shared_ptr<KeyLog> reading);

  Key<double> number(const std::string& name, double fallback);
  Key<double> number(const std::string& name);  ///< required
  Key<int64_t> integer(const std::string& name, int64_t fallback);
  Key<int64_t> integer(const std::string& name);  ///< required
  Key<bool> flag(const std::string& name, bool fallback);
  Key<std::string> text(const std::string& name, std::string fallback);
  Key<std::string> text(const std::string& name);  ///< required
  /// A file or folder. A relative one is taken from the folder of the file it is written in, as
  /// `base` is, and from the current folder when it stands on the command line. Empty stays empty.
  Key<std::string> path(const std::string& name, std::string fallback);
  Key<std::string> path(const std::string& name);  ///< required
  /// One of `words`; the first is the default.
  Key<std::string> choice(const std::string& name, std::vector<std::string> words);
  Key<std::vector<int64_t>> integers(const std::string& name, std::vector<int64_t> fallback);
  Key<std::vector<double>> numbers(const std::string& name, std::vector<double> fallback);
  Key<std::vector<std::string>> texts(const std::string& name, std::vector<std::string> fallback);

  /// A nested map, as Keys of the same owner; empty if absent.
  Keys section(const std::string& name);
  /// The value as written, not interpreted, but counted as read; null if absent.
  const Value* raw(const std::string& name);
  /// Whether the user wrote this key.
  bool has(const std::string& name) const { return map_->find(name) != nullptr; }
  /// Where the key's value stands, or the map itself when it is absent.
  Mark mark(const std::string& name) const;
  Mark mark() const { return map_->mark; }
  /// Reports a problem at a key's value.
  void problem(const std::string& name, const std::string& message);

  /// Reports every key that nobody read. Call once, after all reading.
  void finish();

  const std::shared_ptr<KeyLog>& reading() const { return reading_; }

 private:
  template <class T>
  friend class Key;
  struct Sections;

  const Value* map_;
  std::shared_ptr<KeyLog> reading_;
  std::string prefix_;
  std::shared_ptr<Sections> sections_;  ///< shared by all sections of one map, for finish()
};

/// A key being read: refine it with the calls below, then let it convert to its value.
template <class T>
class Key {
 public:
  Key& within(double low, double high);  ///< inclusive
  Key& above(double low);                ///< exclusive
  Key& at_least(double low);
  /// Used only for what is released, not for training: left out of a training's address.
  Key& late();
  /// Of a path: the file's contents count in addresses, not its name.
  Key& digested();
  /// One line for `imprint explain`.
  Key& doc(const std::string& text);

  operator T();
  T get() { return *this; }

 private:
  friend class Keys;
  template <class U>
  friend class Key;
  Key(Keys keys, std::string name, std::string type, std::optional<T> fallback);
  T read();
  bool check(const T& value, const Mark& mark) const;

  Keys keys_;
  std::string name_;
  std::optional<T> fallback_;
  std::vector<std::string> words_;
  std::optional<double> low_, high_;
  bool low_open_ = false, digested_ = false;
  KeyDoc doc_;
};

/// Reads a component's keys from `map`, ignoring its `name`; a null map reads only defaults.
std::shared_ptr<KeyLog> new_reading(std::string owner, Problems& problems);

/// Canonical text of a number: the shortest that reads back to the same double.
std::string canonical(double value);

/// Parse a scalar; nothing if it is not of that type. Numbers may be infinite or NaN here.
std::optional<double> as_number(const Value& value);
std::optional<int64_t> as_integer(const Value& value);
std::optional<bool> as_flag(const Value& value);

/// A value as a message quotes it.
std::string shown(const Value& value);

}  // namespace imprint
