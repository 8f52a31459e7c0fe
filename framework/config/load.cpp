#include "framework/config/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

namespace imprint {
namespace {

namespace fs = std::filesystem;

// The experiment's own `name` is no component: a new one keeps the base file's keys.
Value on_top(Value under, const Value& own) {
  if (own.find("name") != nullptr)
    std::erase_if(under.entries, [](const Entry& entry) { return entry.key == "name"; });
  return merged(under, own);
}

// One file or a list of them, the later on top of the earlier.
std::vector<Value> base_files(const Value& base) {
  const auto files = base.is_list() && !base.sweep ? base.items : std::vector{base};
  const auto wrong = [](const Value& each) { return !each.is_scalar() || each.text.empty(); };
  if (files.empty() || base.sweep || std::any_of(files.begin(), files.end(), wrong))
    throw ConfigError(base.mark.prefix() + "base must be the path of a file, or a list of paths");
  return files;
}

Value load_with_bases(const std::string& file, const Mark& at, std::vector<std::string> chain) {
  const auto identity = fs::weakly_canonical(file).string();
  if (std::find(chain.begin(), chain.end(), identity) != chain.end())
    throw ConfigError(at.prefix() + fmt::format("'{}' is its own base file, through a cycle of {}",
                                                file, chain.size()));
  if (chain.size() > 32)
    throw ConfigError(at.prefix() + "more than 32 base files, one on top of the other");
  chain.push_back(identity);
  auto own = read_yaml(file, at);
  if (!own.is_map())
    throw ConfigError(own.mark.prefix() +
                      "an experiment file is a map of keys such as name, data, model");
  const auto* base = own.find("base");
  if (base == nullptr) return own;
  std::optional<Value> under;
  for (const auto& each : base_files(*base)) {
    const auto path = (fs::path(file).parent_path() / each.text).lexically_normal().string();
    auto next = load_with_bases(path, each.mark, chain);
    under = under ? on_top(*under, next) : std::move(next);
  }
  std::erase_if(own.entries, [](const Entry& entry) { return entry.key == "base"; });
  return on_top(*under, own);
}

bool is_sweep(const std::string& text) {
  int depth = 0;
  char quote = 0;
  for (const char c : text) {
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && depth == 0) {
      return true;
    }
  }
  return false;
}

void remark(Value& value, const Mark& mark) {
  value.mark = mark;
  for (auto& item : value.items) remark(item, mark);
  for (auto& entry : value.entries) {
    entry.mark = mark;
    remark(entry.value, mark);
  }
}

void apply_override(Value& root, const std::string& argument) {
  const Mark mark{argument, 0, 0};
  const auto equals = argument.find('=');
  if (equals == std::string::npos || equals == 0)
    throw ConfigError(mark.prefix() + "expected key=value, such as train.epochs=5");
  if (argument.starts_with("base="))
    throw ConfigError(mark.prefix() + "base stands in a file; it cannot be given here");
  const auto text = argument.substr(equals + 1);
  Value value;
  if (!text.empty()) {
    try {
      value = parse_yaml(is_sweep(text) ? "!sweep [" + text + "]" : text, "");
    } catch (const ConfigError&) {
      throw ConfigError(mark.prefix() + fmt::format("'{}' is not a YAML value", text));
    }
  }
  remark(value, mark);
  set_path(root, argument.substr(0, equals), std::move(value), mark);
}

}  // namespace

Value load_experiment_file(const std::string& file, const std::vector<std::string>& overrides) {
  auto root = load_with_bases(file, {}, {});
  for (const auto& argument : overrides) apply_override(root, argument);
  return root;
}

}  // namespace imprint
