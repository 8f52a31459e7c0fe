#include "framework/data/formats/pickle.h"

#include <array>
#include <bit>

#include "framework/data/formats/pickle_machine.h"

namespace imprint {
namespace {

using Machine = PickleMachine;
using PickleKind = PickleValue::Kind;
using PickleTable = std::array<PickleOperation, 256>;

void add_numbers(PickleTable& to) {
  to['N'] = [](Machine& m) { m.push(PickleKind::none); };
  to[0x88] = [](Machine& m) { m.push_integer(1, PickleKind::boolean); };
  to[0x89] = [](Machine& m) { m.push_integer(0, PickleKind::boolean); };
  to['J'] = [](Machine& m) { m.push_integer(m.integer<int32_t>()); };
  to['K'] = [](Machine& m) { m.push_integer(m.integer<uint8_t>()); };
  to['M'] = [](Machine& m) { m.push_integer(m.integer<uint16_t>()); };
  to[0x8a] = [](Machine& m) { m.push_long(m.integer<uint8_t>()); };
  to[0x8b] = [](Machine& m) { m.push_long(m.integer<uint32_t>()); };
  to['I'] = to['L'] = [](Machine& m) { m.push_line_integer(); };
  to['F'] = [](Machine& m) { m.push_line_number(); };
  to['G'] = [](Machine& m) {
    m.push_number(std::bit_cast<double>(__builtin_bswap64(m.integer<uint64_t>())));
  };
}

void add_texts(PickleTable& to) {
  to['S'] = [](Machine& m) { m.push_line_string(); };
  to['V'] = [](Machine& m) { m.push_line_unicode(); };
  to['U'] =
      to['C'] = [](Machine& m) { m.push_text(PickleKind::bytes, m.take(m.integer<uint8_t>())); };
  to['T'] =
      to['B'] = [](Machine& m) { m.push_text(PickleKind::bytes, m.take(m.integer<uint32_t>())); };
  to[0x8e] =
      to[0x96] = [](Machine& m) { m.push_text(PickleKind::bytes, m.take(m.integer<uint64_t>())); };
  to[0x8c] = [](Machine& m) { m.push_text(PickleKind::text, m.take(m.integer<uint8_t>())); };
  to['X'] = [](Machine& m) { m.push_text(PickleKind::text, m.take(m.integer<uint32_t>())); };
  to[0x8d] = [](Machine& m) { m.push_text(PickleKind::text, m.take(m.integer<uint64_t>())); };
}

void add_collections(PickleTable& to) {
  to['('] = [](Machine& m) { m.mark(); };
  to[')'] = [](Machine& m) { m.push_items(PickleKind::tuple, {}); };
  to[']'] = [](Machine& m) { m.push_items(PickleKind::list, {}); };
  to['}'] = [](Machine& m) { m.push_items(PickleKind::dict, {}); };
  to['t'] = [](Machine& m) { m.push_items(PickleKind::tuple, m.pop_mark()); };
  to['l'] = [](Machine& m) { m.push_items(PickleKind::list, m.pop_mark()); };
  to['d'] = [](Machine& m) { m.push_items(PickleKind::dict, m.pop_mark()); };
  to[0x85] = [](Machine& m) { m.push_popped_tuple(1); };
  to[0x86] = [](Machine& m) { m.push_popped_tuple(2); };
  to[0x87] = [](Machine& m) { m.push_popped_tuple(3); };
  to['a'] = [](Machine& m) { m.add_items({m.pop()}); };
  to['e'] = [](Machine& m) { m.add_items(m.pop_mark()); };
  to['s'] = [](Machine& m) {
    const auto* const value = m.pop();
    m.add_pairs({m.pop(), value});
  };
  to['u'] = [](Machine& m) { m.add_pairs(m.pop_mark()); };
}

void add_objects(PickleTable& to) {
  to['c'] = [](Machine& m) {
    const auto module = m.line();
    m.push_global(module, m.line());
  };
  to[0x93] = [](Machine& m) { m.push_popped_global(); };
  to['R'] = to[0x81] = [](Machine& m) { m.push_popped_call(); };
  to['b'] = [](Machine& m) { m.set_state(); };
  to['P'] = [](Machine& m) {
    m.push_text(PickleKind::bytes, m.line());
    m.push_persistent(m.pop());
  };
  to['Q'] = [](Machine& m) { m.push_persistent(m.pop()); };
}

void add_stack_and_memo(PickleTable& to) {
  to['0'] = [](Machine& m) { m.pop_value_or_mark(); };
  to['1'] = [](Machine& m) { m.pop_mark(); };
  to['2'] = [](Machine& m) { m.duplicate(); };
  to['p'] = [](Machine& m) { m.remember(m.line_place()); };
  to['q'] = [](Machine& m) { m.remember(m.integer<uint8_t>()); };
  to['r'] = [](Machine& m) { m.remember(m.integer<uint32_t>()); };
  to[0x94] = [](Machine& m) { m.remember_next(); };
  to['g'] = [](Machine& m) { m.recall(m.line_place()); };
  to['h'] = [](Machine& m) { m.recall(m.integer<uint8_t>()); };
  to['j'] = [](Machine& m) { m.recall(m.integer<uint32_t>()); };
  to[0x80] = [](Machine& m) { m.begin(m.integer<uint8_t>()); };
  to[0x95] = [](Machine& m) { m.integer<uint64_t>(); };  // the length of a frame
  to['.'] = [](Machine& m) { m.stop(); };
}

}  // namespace

PickleOperation pickle_operation(uint8_t opcode) {
  static const PickleTable table = [] {
    PickleTable all{};
    add_numbers(all);
    add_texts(all);
    add_collections(all);
    add_objects(all);
    add_stack_and_memo(all);
    return all;
  }();
  return table[opcode];
}

bool PickleValue::reads(std::string_view wanted) const {
  return (is(Kind::text) || is(Kind::bytes)) && text == wanted;
}

bool PickleValue::is_call(std::string_view global) const {
  return is(Kind::object) && callable->text == global;
}

const PickleValue* PickleValue::find(std::string_view key) const {
  if (!is(Kind::dict) && !is(Kind::object)) return nullptr;
  const PickleValue* found = nullptr;
  for (size_t i = 0; i + 1 < items.size(); i += 2)
    if (items[i]->reads(key)) found = items[i + 1];
  return found;
}

Pickle::Pickle(std::string bytes, std::string source)
    : bytes_(std::move(bytes)), source_(std::move(source)) {
  PickleMachine(*this).run();
}

}  // namespace imprint
