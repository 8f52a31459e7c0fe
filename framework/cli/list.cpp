#include <fmt/format.h>

#include "framework/cli/commands.h"
#include "framework/runs/experiment.h"

namespace imprint {
namespace {

// What a component declares, gathered by making one with no keys.
struct Declared {
  Component about;
  std::shared_ptr<KeyLog> keys;
  std::string threat;
};

template <class Interface, class... Args>
void add_all(const Registry<Interface, Args...>& registry, std::vector<Declared>& all,
             std::type_identity_t<Args>... args) {
  for (const auto& [name, item] : registry.items()) {
    static const Value no_keys;
    Problems ignored;  // required keys are missing, of course
    auto keys = new_reading(item.about.kind, ignored);
    Keys own(no_keys, keys);
    const auto component = item.make(own, args...);
    if constexpr (std::is_same_v<Interface, Attack>) {
      AttackChoice unused;
      read_attack_keys(own, unused);
    }
    if constexpr (std::is_same_v<Interface, Source>) {
      DataChoice unused;
      read_data_keys(own, unused);
    }
    Declared declared{item.about, keys, ""};
    if constexpr (std::is_same_v<Interface, Attack>) declared.threat = component->needs().words();
    all.push_back(std::move(declared));
  }
}

std::vector<Declared> everything() {
  std::vector<Declared> all;
  add_all(ModelRegistry::instance(), all, Shape{{1, 32, 32}, 2, 0});
  add_all(AttackRegistry::instance(), all);
  add_all(DefenseRegistry::instance(), all);
  add_all(SourceRegistry::instance(), all);
  add_all(MeasureRegistry::instance(), all);
  return all;
}

void load_all(const std::vector<std::string>& plugins) {
  for (const auto& path : plugins) load_plugin(path, Mark{"--plugin " + path, 0, 0});
}

void print_explanation(const Declared& declared) {
  const auto& about = declared.about;
  fmt::print("{} '{}': {}\n", about.kind, about.name, about.summary);
  if (!about.paper.empty()) fmt::print("  from          {}\n", about.paper);
  if (!declared.threat.empty()) fmt::print("  threat model  {}\n", declared.threat);
  if (!about.hooks.empty()) fmt::print("  takes part in {}\n", joined(about.hooks));
  fmt::print("  source        {}\n", about.file);
  if (declared.keys->docs.empty()) {
    fmt::print("  no keys\n");
    return;
  }
  fmt::print("  keys\n");
  for (const auto& key : declared.keys->docs) {
    fmt::print("    {:<16} {}{}; {}\n", key.path, key.type,
               key.range.empty() ? "" : ", " + key.range,
               key.fallback == "required" ? key.fallback : "default " + key.fallback);
    fmt::print("    {:<16}   {}{}\n", "", key.doc,
               key.late ? " (late: does not change the training)" : "");
  }
}

}  // namespace

int list_command(const std::string& kind, const std::vector<std::string>& plugins) {
  load_all(plugins);
  std::string last;
  for (const auto& declared : everything()) {
    const auto plural = declared.about.kind + "s";
    if (!kind.empty() && kind != plural && kind != declared.about.kind) continue;
    if (declared.about.kind != last) fmt::print("{}{}\n", last.empty() ? "" : "\n", plural);
    last = declared.about.kind;
    fmt::print("  {:<28} {}\n", declared.about.name, declared.about.summary);
  }
  if (!last.empty()) return 0;
  const std::vector<std::string> kinds{"models", "attacks", "defenses", "datasets", "measures"};
  throw ConfigError(fmt::format("there is no kind '{}'{} (kinds: {})", kind,
                                did_you_mean(kind, kinds), joined(kinds)));
}

int explain_command(const std::string& name, const std::vector<std::string>& plugins) {
  load_all(plugins);
  std::vector<std::string> names;
  bool found = false;
  for (const auto& declared : everything()) {
    names.push_back(declared.about.name);
    if (declared.about.name != name) continue;
    if (found) fmt::print("\n");
    print_explanation(declared);
    found = true;
  }
  if (found) return 0;
  throw ConfigError(fmt::format("there is no component '{}'{} ('imprint list' shows all)", name,
                                did_you_mean(name, names)));
}

}  // namespace imprint
