#include "framework/config/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace imprint {
namespace {

// Text that YAML would read as something else, or not at all, goes between quotes.
std::string quoted_if_needed(const Value& value) {
  const auto& text = value.text;
  const bool odd = text.empty() ||
                   text.find_first_of(":#,[]{}&*!|>'\"%@`\n\t\\") != std::string::npos ||
                   text.front() == ' ' || text.back() == ' ' || text.front() == '-' ||
                   text.front() == '?' || text == "~" || text == "null";
  const bool number = !text.empty() && (text.front() == '-' || text.front() == '.') &&
                      text.find_first_not_of("+-.0123456789eE") == std::string::npos;
  if (!value.quoted && (!odd || number)) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else
      out += c;
  }
  return out + "\"";
}

void write_block(const Value& value, int indent, std::string& out);

// What follows "key:" or "-": inline for leaves and lists of leaves, else an indented block.
void write_after(const Value& value, int indent, std::string& out) {
  const bool flat_list = value.is_list() && std::none_of(value.items.begin(), value.items.end(),
                                                         [](const Value& item) {
                                                           return item.is_map() || item.is_list();
                                                         });
  const bool empty = value.items.empty() && value.entries.empty();
  if (flat_list || empty) {
    out += " " + to_flow(value) + "\n";
  } else {
    out += std::string(value.sweep ? " !sweep" : "") + "\n";
    write_block(value, indent, out);
  }
}

void write_block(const Value& value, int indent, std::string& out) {
  const std::string margin(static_cast<size_t>(indent), ' ');
  for (const auto& entry : value.entries) {
    out += margin + quoted_if_needed(Value::scalar(entry.key)) + ":";
    write_after(entry.value, indent + 2, out);
  }
  for (const auto& item : value.items) {
    if (item.is_map() && !item.entries.empty()) {
      out += margin + "- " + to_flow(item) + "\n";
    } else {
      out += margin + "-";
      write_after(item, indent + 2, out);
    }
  }
}

struct PathStep {
  std::string key;
  std::vector<size_t> indices;
};

std::vector<PathStep> parse_path(const std::string& path, const Mark& mark) {
  std::vector<PathStep> steps;
  size_t at = 0;
  const auto bad = [&] {
    return ConfigError(mark.prefix() +
                       fmt::format("'{}' is not a path; write a.b or a[0].b", path));
  };
  while (at <= path.size()) {
    const auto end = std::min(path.find_first_of(".[", at), path.size());
    PathStep step{path.substr(at, end - at), {}};
    if (step.key.empty()) throw bad();
    at = end;
    while (at < path.size() && path[at] == '[') {
      size_t index = 0;
      const auto* last = path.data() + path.size();
      const auto [rest, error] = std::from_chars(path.data() + at + 1, last, index);
      if (error != std::errc() || rest == last || *rest != ']') throw bad();
      step.indices.push_back(index);
      at = static_cast<size_t>(rest - path.data()) + 1;
    }
    steps.push_back(std::move(step));
    if (at < path.size() && path[at] != '.') throw bad();
    ++at;
  }
  return steps;
}

Value& step_into(Value& node, const PathStep& step, const std::string& path, const Mark& mark) {
  if (node.kind == Value::Kind::null) node.kind = Value::Kind::map;
  if (!node.is_map())
    throw ConfigError(
        mark.prefix() +
        fmt::format("'{}' leads through a value that has no keys, at '{}'", path, step.key));
  if (node.find(step.key) == nullptr) {
    Value fresh;
    fresh.mark = mark;
    node.entries.push_back({step.key, mark, std::move(fresh)});
  }
  Value* next = node.find(step.key);
  for (const auto index : step.indices) {
    if (!next->is_list() || index >= next->items.size())
      throw ConfigError(mark.prefix() + fmt::format("'{}': '{}' has {} items, no [{}]", path,
                                                    step.key, next->items.size(), index));
    next = &next->items[index];
  }
  return *next;
}

}  // namespace

Value Value::scalar(std::string text, bool quoted) {
  Value value;
  value.kind = Kind::scalar;
  value.text = std::move(text);
  value.quoted = quoted;
  return value;
}

Value Value::list(std::vector<Value> items) {
  Value value;
  value.kind = Kind::list;
  value.items = std::move(items);
  return value;
}

Value Value::map() {
  Value value;
  value.kind = Kind::map;
  return value;
}

const Value* Value::find(const std::string& key) const {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const Entry& entry) { return entry.key == key; });
  return found == entries.end() ? nullptr : &found->value;
}

Value* Value::find(const std::string& key) {
  return const_cast<Value*>(static_cast<const Value&>(*this).find(key));
}

void Value::set(const std::string& key, Value value) {
  if (auto* found = find(key))
    *found = std::move(value);
  else
    entries.push_back({key, value.mark, std::move(value)});
}

std::string to_yaml(const Value& value) {
  std::string out;
  if (value.is_map() || value.is_list())
    write_block(value, 0, out);
  else
    out = to_flow(value) + "\n";
  return out;
}

std::string to_flow(const Value& value) {
  std::vector<std::string> parts;
  for (const auto& item : value.items) parts.push_back(to_flow(item));
  for (const auto& entry : value.entries)
    parts.push_back(quoted_if_needed(Value::scalar(entry.key)) + ": " + to_flow(entry.value));
  switch (value.kind) {
    case Value::Kind::null:
      return "null";
    case Value::Kind::scalar:
      return quoted_if_needed(value);
    case Value::Kind::list:
      return (value.sweep ? "!sweep [" : "[") + joined(parts) + "]";
    case Value::Kind::map:
      return "{" + joined(parts) + "}";
  }
  return "";
}

Value merged(const Value& under, const Value& over) {
  if (!under.is_map() || !over.is_map()) return over;
  const auto* old_name = under.find("name");
  const auto* new_name = over.find("name");
  const bool other_component = old_name != nullptr && new_name != nullptr &&
                               old_name->is_scalar() && new_name->is_scalar() &&
                               old_name->text != new_name->text;
  if (other_component) return over;
  Value result = under;
  result.mark = over.mark;
  for (const auto& entry : over.entries) {
    if (auto* found = result.find(entry.key))
      *found = merged(*found, entry.value);
    else
      result.entries.push_back(entry);
  }
  return result;
}

void set_path(Value& root, const std::string& path, Value value, const Mark& mark) {
  Value* node = &root;
  for (const auto& step : parse_path(path, mark)) node = &step_into(*node, step, path, mark);
  *node = std::move(value);
}

Value* at_path(Value& root, const std::string& path) {
  Value* node = &root;
  for (const auto& step : parse_path(path, {})) {
    node = node->find(step.key);
    for (const auto index : step.indices)
      node = node != nullptr && index < node->items.size() ? &node->items[index] : nullptr;
    if (node == nullptr) return nullptr;
  }
  return node;
}

}  // namespace imprint
