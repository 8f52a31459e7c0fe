#include <fmt/format.h>

#include <cstdlib>
#include <regex>

#include "framework/cli/commands.h"
#include "framework/cli/templates.h"
#include "framework/config/problems.h"
#include "framework/runs/store.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;

struct Template {
  std::string folder;  ///< of components
  const char *component, *test, *config;
};

const std::map<std::string, Template>& all_templates() {
  static const std::map<std::string, Template> all{
      {"attack", {"attacks", templates::attack, templates::attack_test, templates::attack_config}},
      {"defense", {"defenses", templates::defense, templates::defense_test, templates::defense_config}},
      {"model", {"models", templates::model, templates::model_test, templates::model_config}},
      {"dataset", {"framework/datasets", templates::dataset, templates::dataset_test, templates::dataset_config}},
      {"measure", {"framework/measures", templates::measure, templates::measure_test, templates::measure_config}}};
  return all;
}

std::string camel(const std::string& name) {
  std::string out;
  bool upper = true;
  for (const char c : name) {
    if (c == '_') {
      upper = true;
      continue;
    }
    out += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = false;
  }
  return out;
}

std::string filled(std::string text, const std::string& name) {
  for (const auto& [hole, value] : {std::pair<std::string, std::string>{"{name}", name}, {"{Type}", camel(name)}})
    for (size_t at = 0; (at = text.find(hole, at)) != std::string::npos; at += value.size())
      text.replace(at, hole.size(), value);
  return text;
}

}  // namespace

int new_command(const std::string& kind, const std::string& name) {
  std::vector<std::string> kinds;
  for (const auto& [known, unused] : all_templates()) kinds.push_back(known);
  const auto found = all_templates().find(kind);
  if (found == all_templates().end())
    throw ConfigError(fmt::format("there is no kind '{}'{} (kinds: {})", kind, did_you_mean(kind, kinds), joined(kinds)));
  if (!std::regex_match(name, std::regex("[a-z][a-z0-9_]*")))
    throw ConfigError(fmt::format("'{}' is no name for a component; use lower_case_with_underscores", name));
  const char* home = std::getenv("IMPRINT_HOME");
  const fs::path root = home == nullptr ? "." : home;
  if (!fs::exists(root / "framework/registry/registry.h"))
    throw ConfigError(fmt::format("'{}' is no source tree of Imprint; call ./imprint new there", fs::absolute(root).string()));
  const auto& parts = found->second;
  const auto plural = kind + "s";
  const std::vector<std::pair<fs::path, std::string>> files{
      {fs::path(parts.folder) / (name + ".cpp"), parts.component},
      {fs::path("tests") / plural / (name + "_test.cpp"), parts.test},
      {fs::path("configs") / plural / (name + ".yaml"), parts.config}};
  for (const auto& [file, text] : files)
    if (fs::exists(root / file)) throw ConfigError(fmt::format("{} exists already; nothing was written", file.string()));
  for (const auto& [file, text] : files) {
    fs::create_directories((root / file).parent_path());
    write_file(root / file, filled(text, name));
    fmt::print("wrote {}\n", file.string());
  }
  fmt::print("next: ./imprint test -R {}, then ./imprint run {}\n", camel(name), files.back().first.string());
  return 0;
}

}  // namespace imprint
