#include "framework/data/formats/pickle_machine.h"

#include <fmt/format.h>

#include <charconv>
#include <map>

#include "framework/config/problems.h"

namespace imprint {
namespace {

constexpr size_t kMostPickleSteps = 4'000'000;

/// For messages: opcodes that Python knows and plain values do not need.
std::string opcode_name(uint8_t code) {
  static const std::map<uint8_t, std::string> names{
      {'i', "INST"},       {'o', "OBJ"},          {0x82, "EXT1"},           {0x83, "EXT2"},
      {0x84, "EXT4"},      {0x8f, "EMPTY_SET"},   {0x90, "ADDITEMS"},       {0x91, "FROZENSET"},
      {0x92, "NEWOBJ_EX"}, {0x97, "NEXT_BUFFER"}, {0x98, "READONLY_BUFFER"}};
  const auto found = names.find(code);
  return found == names.end() ? fmt::format("0x{:02x}", code) : found->second;
}

template <typename Number>
std::optional<Number> parsed(std::string_view text) {
  Number value{};
  const auto* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return value;
}

void append_utf8(std::string& text, uint32_t code) {
  if (code < 0x80) {
    text += static_cast<char>(code);
    return;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  const uint32_t first = 0xFF80U >> more & 0xFF;  // 110, 1110 or 11110 before its bits
  text += static_cast<char>(first | code >> 6 * more);
  for (int i = more - 1; i >= 0; --i) text += static_cast<char>(0x80 | (code >> 6 * i & 0x3F));
}

/// The value of exactly so many hexadecimal digits at the start of `text`.
std::optional<uint32_t> hexadecimal(std::string_view text, size_t digits) {
  uint32_t code = 0;
  if (text.size() < digits) return std::nullopt;
  const auto result = std::from_chars(text.data(), text.data() + digits, code, 16);
  return result.ptr == text.data() + digits ? std::optional(code) : std::nullopt;
}

/// The bytes of a Python 2 string literal without its quotes; nothing if it has a bad escape.
std::optional<std::string> string_bytes(std::string_view text) {
  static const std::map<char, char> simple{{'n', '\n'},  {'t', '\t'}, {'r', '\r'},
                                           {'\'', '\''}, {'"', '"'},  {'\\', '\\'}};
  std::string bytes;
  while (!text.empty()) {
    const bool escape = text.front() == '\\';
    const auto next = text.size() > 1 ? text[1] : '\0';
    if (!escape) {
      bytes += text.front();
      text.remove_prefix(1);
    } else if (next == 'x') {
      const auto code = hexadecimal(text.substr(2), 2);
      if (!code) return std::nullopt;
      bytes += static_cast<char>(*code);
      text.remove_prefix(4);
    } else {
      if (!simple.contains(next)) return std::nullopt;
      bytes += simple.at(next);
      text.remove_prefix(2);
    }
  }
  return bytes;
}

/// UTF-8 of Latin-1 with the escapes \u and \U; nothing if it has a bad one.
std::optional<std::string> unicode_text(std::string_view raw) {
  std::string text;
  while (!raw.empty()) {
    const auto next = raw.size() > 1 && raw.front() == '\\' ? raw[1] : '\0';
    const size_t digits = next == 'u' ? 4 : next == 'U' ? 8 : 0;
    if (digits == 0) {
      append_utf8(text, static_cast<uint8_t>(raw.front()));
      raw.remove_prefix(1);
      continue;
    }
    const auto code = hexadecimal(raw.substr(2), digits);
    if (!code || *code > 0x10FFFF) return std::nullopt;
    append_utf8(text, *code);
    raw.remove_prefix(2 + digits);
  }
  return text;
}

}  // namespace

void PickleMachine::run() {
  for (size_t steps = 0; !done_; ++steps) {
    if (steps == kMostPickleSteps) refuse("has too many values");
    start_ = pickle_.bytes_.size() - rest_.size();
    const auto code = integer<uint8_t>();
    const auto operation = pickle_operation(code);
    if (operation == nullptr) refuse(fmt::format("opcode {} is not known here", opcode_name(code)));
    operation(*this);
  }
  if (!rest_.empty()) refuse("goes on after its end");
  if (stack_.size() != 1 || !marks_.empty()) refuse("leaves other than one value");
  pickle_.top_ = stack_.front();
  check_depth();
}

void PickleMachine::refuse(const std::string& why) const {
  throw ConfigError(fmt::format("{}: damaged, or no pickle of plain values: {} (at byte {})",
                                pickle_.source_, why, start_));
}

std::string_view PickleMachine::take(uint64_t bytes) {
  if (bytes > rest_.size()) refuse("ends too early");
  const auto taken = rest_.substr(0, bytes);
  rest_.remove_prefix(bytes);
  return taken;
}

std::string_view PickleMachine::line() {
  const auto length = rest_.find('\n');
  if (length == std::string_view::npos) refuse("ends too early");
  const auto line = take(length);
  take(1);
  return line;
}

uint64_t PickleMachine::line_place() {
  const auto place = parsed<uint64_t>(line());
  if (!place) refuse("has a bad number");
  return *place;
}

PickleValue& PickleMachine::push(Kind kind) {
  auto& value = pickle_.values_.emplace_back();
  value.kind = kind;
  value.place = pickle_.values_.size() - 1;
  stack_.push_back(&value);
  return value;
}

void PickleMachine::push_decoded(Kind kind, std::optional<std::string> text) {
  if (!text) refuse("has a bad escape");
  push_text(kind, pickle_.decoded_.emplace_back(std::move(*text)));
}

void PickleMachine::push_items(Kind kind, Items items) {
  if (kind == Kind::dict && items.size() % 2 != 0) refuse("has a key without a value");
  push(kind).items = std::move(items);
}

void PickleMachine::push_long(uint64_t bytes) {
  if (bytes > sizeof(int64_t)) refuse("has an integer of more than 64 bits");
  const auto digits = take(bytes);
  uint64_t value = !digits.empty() && (digits.back() & 0x80) != 0 ? ~uint64_t{0} : 0;
  std::memcpy(&value, digits.data(), digits.size());
  push_integer(static_cast<int64_t>(value));
}

void PickleMachine::push_line_integer() {
  auto digits = line();
  if (digits == "00" || digits == "01") return push_integer(digits == "01", Kind::boolean);
  if (digits.ends_with('L')) digits.remove_suffix(1);
  const auto value = parsed<int64_t>(digits);
  if (!value) refuse("has a bad integer");
  push_integer(*value);
}

void PickleMachine::push_line_number() {
  const auto value = parsed<double>(line());
  if (!value) refuse("has a bad number");
  push_number(*value);
}

void PickleMachine::push_line_string() {
  const auto quoted = line();
  if (quoted.size() < 2 || quoted.front() != quoted.back()) refuse("has a bad string");
  push_decoded(Kind::bytes, string_bytes(quoted.substr(1, quoted.size() - 2)));
}

void PickleMachine::push_line_unicode() { push_decoded(Kind::text, unicode_text(line())); }

void PickleMachine::push_popped_tuple(size_t length) {
  Items items(length);
  for (auto at = items.rbegin(); at != items.rend(); ++at) *at = pop();
  push_items(Kind::tuple, std::move(items));
}

void PickleMachine::push_global(std::string_view module, std::string_view name) {
  // Short texts recalled again and again must not become many long names.
  if (module.size() + name.size() > 200) refuse("has a global with too long a name");
  push_text(Kind::global, *pickle_.globals_.insert(fmt::format("{}.{}", module, name)).first);
}

void PickleMachine::push_popped_global() {
  const auto *const name = pop(), *const module = pop();
  if (!name->is(Kind::text) || !module->is(Kind::text)) refuse("has a bad global");
  push_global(module->text, name->text);
}

void PickleMachine::push_popped_call() {
  const auto *const argument = pop(), *const callable = pop();
  if (!callable->is(Kind::global)) refuse("calls what is no global");
  if (!argument->is(Kind::tuple)) refuse("calls with what is no tuple");
  auto& object = push(Kind::object);
  object.callable = callable;
  object.argument = argument;
}

void PickleMachine::begin(uint8_t protocol) {
  if (protocol > 5) refuse(fmt::format("has protocol {}, known are 0 to 5", protocol));
}

}  // namespace imprint
