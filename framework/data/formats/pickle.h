#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace imprint {

/// A value of a pickle, as data. What a pickle would import or call stays a name or a note of the
/// call: nothing is ever executed.
struct PickleValue {
  enum class Kind {
    none,
    boolean,
    integer,
    number,
    bytes,  ///< also the strings of Python 2
    text,
    tuple,
    list,
    dict,
    global,     ///< a name to import; `text` is "module.name"
    object,     ///< a call of `callable` with `argument`, then filled with `items` and `state`
    persistent  ///< something kept elsewhere; `argument` says what
  };

  Kind kind = Kind::none;
  int64_t integer = 0;  ///< of an integer; 0 or 1 of a boolean
  double number = 0;
  std::string_view text;  ///< contents of text (UTF-8) and bytes, name of a global
  /// Elements of a tuple or list; of a dict, and of an object like one: key, value, key, value ...
  std::vector<const PickleValue*> items;
  const PickleValue* callable = nullptr;  ///< a global
  const PickleValue* argument = nullptr;  ///< a tuple; of a persistent value anything
  const PickleValue* state = nullptr;     ///< null: none
  size_t place = 0;                       ///< among all values of its file

  bool is(Kind wanted) const { return kind == wanted; }
  /// Whether it is text or bytes, and these.
  bool reads(std::string_view wanted) const;
  /// Whether it is an object made by a call of this "module.name".
  bool is_call(std::string_view global) const;
  /// The value of a dict, or of an object like one, under this text or bytes; null: none.
  const PickleValue* find(std::string_view key) const;
};

/// A pickle (protocols 0 to 5) read into plain values. Throws ConfigError "<source>: ..." when it
/// is damaged, uses what plain values do not need, or is deeper or larger than any honest file;
/// memory is bounded by a small multiple of its bytes.
class Pickle {
 public:
  Pickle(std::string bytes, std::string source);
  Pickle(const Pickle&) = delete;
  Pickle& operator=(const Pickle&) = delete;

  /// No value contains itself; values live as long as the Pickle.
  const PickleValue& top() const { return *top_; }
  /// Names of everything that it would import, as "module.name".
  const std::set<std::string>& globals() const { return globals_; }

 private:
  friend class PickleMachine;

  std::string bytes_, source_;
  std::deque<PickleValue> values_;
  std::deque<std::string> decoded_;  ///< texts that do not stand in the bytes as they are
  std::set<std::string> globals_;
  const PickleValue* top_ = nullptr;
};

}  // namespace imprint
