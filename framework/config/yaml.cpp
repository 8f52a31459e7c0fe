#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "framework/config/value.h"

namespace imprint {
namespace {

// Aliases are copied, so a few lines of nested aliases could ask for an exponential tree.
constexpr size_t most_nodes = 200'000;
constexpr size_t longest_file = size_t{4} << 20;
constexpr size_t longest_line = size_t{1} << 20;

// Builds our tree from parser events. yaml-cpp's own node graph would contain cycles for cyclic
// aliases and silently keeps the last of two equal keys.
class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(std::string file, Problems& problems) : file_(std::move(file)), problems_(problems) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& at, YAML::anchor_t anchor) override {
    add(leaf(at, Value::Kind::null), anchor);
  }
  void OnScalar(const YAML::Mark& at, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    auto value = leaf(at, Value::Kind::scalar);
    value.text = text;
    value.quoted = tag == "!";
    if (tag != "!" && tag != "?" && !tag.empty() && tag != "tag:yaml.org,2002:str")
      problems_.add(value.mark, fmt::format("unknown tag '{}' (tags: !sweep on a list)", tag));
    const bool null = !value.quoted && (text == "~" || text == "null" || text.empty());
    if (null) value.kind = Value::Kind::null;
    add(std::move(value), anchor);
  }
  void OnAlias(const YAML::Mark& at, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) {
      problems_.add(leaf(at, Value::Kind::null).mark, "this alias stands inside what it refers to");
      add(leaf(at, Value::Kind::null), YAML::NullAnchor);
      return;
    }
    nodes_ += count(found->second);
    refuse_if_too_many(at);
    add(found->second, YAML::NullAnchor);
  }
  void OnSequenceStart(const YAML::Mark& at, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    auto value = leaf(at, Value::Kind::list);
    value.sweep = tag == "!sweep";
    if (!value.sweep && tag != "?" && tag != "!" && !tag.empty())
      problems_.add(value.mark, fmt::format("unknown tag '{}' (tags: !sweep)", tag));
    if (open_.size() > 100) throw YAML::ParserException(at, "nested more than 100 deep");
    open_.push_back({std::move(value), anchor, {}});
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& at, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    auto value = leaf(at, Value::Kind::map);
    if (tag != "?" && tag != "!" && !tag.empty())
      problems_.add(value.mark, fmt::format("unknown tag '{}' (tags: !sweep on a list)", tag));
    if (open_.size() > 100) throw YAML::ParserException(at, "nested more than 100 deep");
    open_.push_back({std::move(value), anchor, {}});
  }
  void OnMapEnd() override { close(); }

  Value root;

 private:
  struct Open {
    Value value;
    YAML::anchor_t anchor;
    std::optional<Value> key;
  };

  Value leaf(const YAML::Mark& at, Value::Kind kind) {
    refuse_if_too_many(at);
    ++nodes_;
    Value value;
    value.kind = kind;
    value.mark = {file_, at.line + 1, at.column + 1};
    return value;
  }

  void refuse_if_too_many(const YAML::Mark& at) const {
    if (nodes_ > most_nodes)
      throw YAML::ParserException(at,
                                  fmt::format("more than {} values, aliases included", most_nodes));
  }

  static size_t count(const Value& value) {
    size_t nodes = 1;
    for (const auto& item : value.items) nodes += count(item);
    for (const auto& entry : value.entries) nodes += count(entry.value);
    return nodes;
  }

  void close() {
    auto done = std::move(open_.back());
    open_.pop_back();
    add(std::move(done.value), done.anchor);
  }

  void add(Value value, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) anchors_[anchor] = value;
    if (open_.empty()) {
      root = std::move(value);
      return;
    }
    auto& top = open_.back();
    if (top.value.is_list()) {
      top.value.items.push_back(std::move(value));
    } else if (!top.key) {
      if (!value.is_scalar()) problems_.add(value.mark, "a key must be a word");
      top.key = std::move(value);
    } else {
      add_entry(top, std::move(value));
    }
  }

  void add_entry(Open& top, Value value) {
    if (const auto* first = top.value.find(top.key->text);
        first != nullptr && top.key->is_scalar()) {
      problems_.add(top.key->mark,
                    fmt::format("duplicate key '{}' (its first value is at {}:{})", top.key->text,
                                first->mark.line, first->mark.column));
    } else {
      top.value.entries.push_back({top.key->text, top.key->mark, std::move(value)});
    }
    top.key.reset();
  }

  std::string file_;
  Problems& problems_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Value> anchors_;
  size_t nodes_ = 0;
};

// How many bytes of a character of UTF-8 start here; 0: none does.
size_t character_at(const std::string& text, size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const size_t length = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (lead > 0xf4 || at + length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(text[at + i]) & 0xc0) != 0x80) return 0;
  return length;
}

// What the parser would take long over, or misread: junk, and lines without end.
void check_text(const std::string& text, const std::string& file) {
  int line = 1;
  size_t start = 0;
  for (size_t at = 0; at < text.size();) {
    const Mark here{file, line, static_cast<int>(at - start) + 1};
    const auto length = character_at(text, at);
    if (text[at] == '\0' || length == 0)
      throw ConfigError(here.prefix() +
                        fmt::format("not a text file (it contains {})",
                                    length == 0 ? "bytes that are not UTF-8" : "a zero byte"));
    if (at - start > longest_line)
      throw ConfigError(Mark{file, line, 1}.prefix() + "this line has more than a million bytes");
    if (text[at] == '\n') ++line, start = at + 1;
    at += length;
  }
}

// Column of a tab that indents a line, or nothing.
std::optional<int> indenting_tab(const std::string& text, int line_number) {
  std::istringstream lines(text);
  std::string line;
  for (int i = 0; i <= line_number; ++i) std::getline(lines, line);
  const auto first = line.find_first_not_of(' ');
  const bool tab = first != std::string::npos && line[first] == '\t';
  return tab ? std::optional(static_cast<int>(first) + 1) : std::nullopt;
}

// The parser's own messages are terse; those that beginners meet get a hint.
std::string explained(const YAML::ParserException& error) {
  if (error.msg.find("end of map flow not found") != std::string::npos)
    return "a '{' is never closed with '}'";
  if (error.msg.find("end of sequence flow not found") != std::string::npos)
    return "a '[' is never closed with ']'";
  return error.msg;
}

}  // namespace

Value parse_yaml(const std::string& text, const std::string& file) {
  Problems problems;
  TreeBuilder tree(file, problems);
  check_text(text, file);
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    const bool any = parser.HandleNextDocument(tree);
    if (!any || tree.root.kind == Value::Kind::null)
      problems.add({file, 1, 1},
                   "the file is empty; expected keys such as name, data, model, train");
    TreeBuilder more(file, problems);
    if (parser.HandleNextDocument(more))
      problems.add(more.root.mark, "a second YAML document ('---'); an experiment is one document");
  } catch (const YAML::ParserException& error) {
    const auto tab = indenting_tab(text, error.mark.line);
    problems.add({file, error.mark.line + 1, tab.value_or(error.mark.column + 1)},
                 tab ? "a tab cannot indent YAML; use spaces" : explained(error));
  }
  problems.raise();
  return tree.root;
}

Value read_yaml(const std::string& file, const Mark& at) {
  if (std::filesystem::is_directory(file))
    throw ConfigError(at.prefix() + fmt::format("'{}' is a folder, not a file", file));
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    throw ConfigError(at.prefix() +
                      fmt::format("cannot read '{}': {}", file, std::strerror(errno)));
  // Never more than that is read, whatever it is: a device may have no end.
  std::string text(longest_file + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(stream.gcount()));
  if (text.size() > longest_file)
    throw ConfigError(at.prefix() +
                      fmt::format("'{}' has more than {} MB; an experiment file is text of some "
                                  "kilobytes",
                                  file, longest_file >> 20));
  return parse_yaml(text, file);
}

}  // namespace imprint
