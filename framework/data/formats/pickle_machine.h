#pragma once

#include <cstring>
#include <optional>
#include <unordered_map>

#include "framework/data/formats/pickle.h"

namespace imprint {

/// Runs the opcodes of one pickle over a stack of values; the inside of Pickle. Everything that
/// takes something from the bytes or the stack refuses the pickle when it is not there.
class PickleMachine {
 public:
  using Kind = PickleValue::Kind;
  using Items = std::vector<const PickleValue*>;

  explicit PickleMachine(Pickle& pickle) : pickle_(pickle), rest_(pickle.bytes_) {}
  void run();

  // The bytes.
  std::string_view take(uint64_t bytes);
  std::string_view line();
  /// Little-endian, as pickles write all but floats.
  template <typename Integer>
  Integer integer() {
    Integer value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  uint64_t line_place();

  // Values.
  PickleValue& push(Kind kind);
  void push_integer(int64_t value, Kind kind = Kind::integer) { push(kind).integer = value; }
  void push_number(double value) { push(Kind::number).number = value; }
  void push_text(Kind kind, std::string_view text) { push(kind).text = text; }
  void push_items(Kind kind, Items items);
  /// Of so many bytes, little-endian, in two's complement.
  void push_long(uint64_t bytes);
  void push_line_integer();
  void push_line_number();
  void push_line_string();
  void push_line_unicode();
  void push_popped_tuple(size_t length);
  void push_global(std::string_view module, std::string_view name);
  void push_popped_global();
  void push_popped_call();
  void push_persistent(const PickleValue* argument) { push(Kind::persistent).argument = argument; }

  // The stack and the memo.
  void mark() { marks_.push_back(stack_.size()); }
  PickleValue* top() const;
  PickleValue* pop();
  /// The values since the last mark, which is removed.
  Items pop_mark();
  void pop_value_or_mark();
  void duplicate() { stack_.push_back(top()); }
  void add_items(const Items& items);
  void add_pairs(const Items& items);
  void set_state();
  void remember(uint64_t place) { memo_[place] = top(); }
  void remember_next() { remember(memo_.size()); }
  void recall(uint64_t place);

  void begin(uint8_t protocol);
  void stop() { done_ = true; }

 private:
  [[noreturn]] void refuse(const std::string& why) const;
  void push_decoded(Kind kind, std::optional<std::string> text);
  /// Refuses values that contain themselves or lie too deep.
  void check_depth() const;

  Pickle& pickle_;
  std::string_view rest_;
  size_t start_ = 0;  ///< of the opcode being run
  bool done_ = false;
  std::vector<PickleValue*> stack_;
  std::vector<size_t> marks_;  ///< heights of the stack
  std::unordered_map<uint64_t, PickleValue*> memo_;
};

/// What an opcode does; null: it is not known here.
using PickleOperation = void (*)(PickleMachine&);
PickleOperation pickle_operation(uint8_t opcode);

}  // namespace imprint
