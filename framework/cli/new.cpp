#include <fmt/format.h>

#include <cstdlib>
#include <regex>

#include "framework/cli/commands.h"
#include "framework/config/problems.h"
#include "framework/runs/store.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;

// Where components of each kind live; what a new one starts from is in framework/cli/templates.
const std::map<std::string, std::string>& component_folders() {
  static const std::map<std::string, std::string> folders{{"attack", "attacks"},
                                                          {"defense", "defenses"},
                                                          {"model", "models"},
                                                          {"dataset", "framework/datasets"},
                                                          {"measure", "framework/measures"}};
  return folders;
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
  for (const auto& [hole, value] :
       {std::pair<std::string, std::string>{"{name}", name}, {"{Type}", camel(name)}})
    for (size_t at = 0; (at = text.find(hole, at)) != std::string::npos; at += value.size())
      text.replace(at, hole.size(), value);
  return text;
}

}  // namespace

int new_command(const std::string& kind, const std::string& name) {
  std::vector<std::string> kinds;
  for (const auto& [known, folder] : component_folders()) kinds.push_back(known);
  const auto found = component_folders().find(kind);
  if (found == component_folders().end())
    throw ConfigError(fmt::format("there is no kind '{}'{} (kinds: {})", kind,
                                  did_you_mean(kind, kinds), joined(kinds)));
  if (!std::regex_match(name, std::regex("[a-z][a-z0-9_]*")))
    throw ConfigError(
        fmt::format("'{}' is no name for a component; use lower_case_with_underscores", name));
  const char* home = std::getenv("IMPRINT_HOME");
  const fs::path root = home == nullptr ? "." : home;
  const auto templates = root / "framework/cli/templates" / kind;
  if (!fs::exists(templates))
    throw ConfigError(fmt::format("'{}' is no source tree of Imprint; call ./imprint new there",
                                  fs::absolute(root).string()));
  const auto plural = kind + "s";
  const std::vector<std::pair<fs::path, std::string>> files{
      {fs::path(found->second) / (name + ".cpp"), "component.in"},
      {fs::path("tests") / plural / (name + "_test.cpp"), "test.in"},
      {fs::path("configs") / plural / (name + ".yaml"), "config.in"}};
  for (const auto& [file, from] : files)
    if (fs::exists(root / file))
      throw ConfigError(fmt::format("{} exists already; nothing was written", file.string()));
  for (const auto& [file, from] : files) {
    fs::create_directories((root / file).parent_path());
    write_file(root / file, filled(read_file(templates / from), name));
    fmt::print("wrote {}\n", file.string());
  }
  fmt::print("next: ./imprint test -R {}, then ./imprint run {}\n", camel(name),
             files.back().first.string());
  return 0;
}

}  // namespace imprint
