#include "framework/cli/data_source.h"

#include <fmt/format.h>

namespace imprint {
namespace {

// "path=FOLDER" as an entry of the map.
void set_data_key(Value& spec, const std::string& argument) {
  const Mark mark{argument, 0, 0};
  const auto equals = argument.find('=');
  if (equals == std::string::npos || equals == 0)
    throw ConfigError(mark.prefix() + "expected key=value, such as path=FOLDER");
  const auto key = argument.substr(0, equals), text = argument.substr(equals + 1);
  if (key == "name") throw ConfigError(mark.prefix() + "the name stands before the keys");
  Value value;
  try {
    if (!text.empty()) value = parse_yaml(text, "");
  } catch (const ConfigError&) {
    throw ConfigError(mark.prefix() + fmt::format("'{}' is not a YAML value", text));
  }
  value.mark = mark;
  set_path(spec, key, std::move(value), mark);
}

}  // namespace

void load_data_plugins(const DataOptions& options) {
  for (const auto& path : options.plugins) load_plugin(path, Mark{"--plugin " + path, 0, 0});
}

Value data_spec(const DataOptions& options) {
  auto spec = Value::map();
  spec.set("name", Value::scalar(options.name));
  for (const auto& argument : options.keys) set_data_key(spec, argument);
  return spec;
}

Built<Source> source_of(const Value& spec) {
  Problems problems;
  auto built = build(SourceRegistry::instance(), "dataset", spec, problems, {});
  problems.raise();
  return built;
}

std::vector<FileCheck> checked_files(const Source& source) {
  std::vector<FileCheck> checks;
  const auto origin = source.origin();
  for (const auto& file : source.files()) checks.push_back(check_file(origin, file));
  return checks;
}

}  // namespace imprint
