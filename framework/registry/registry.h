#pragma once

#include <fmt/format.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "framework/config/keys.h"
#include "framework/registry/sources.h"

namespace imprint {

/// What a component says about itself when it registers.
struct Component {
  std::string kind;                ///< "attack", "defense", "model", "dataset", "measure"
  std::string name;                ///< as written in YAML, and the name of its file
  std::string summary;             ///< one sentence: what it is
  std::string paper;               ///< where it comes from, with the equation
  std::string file;                ///< its source file, relative to its project
  std::vector<std::string> hooks;  ///< which stages it takes part in (defenses, measures)

  bool has_hook(const std::string& hook) const;
  /// Digest of its source without comments and white space.
  std::string digest() const { return source_digest(file); }
};

/// Names registered twice, each with both files; reported once the program runs, since throwing
/// during static initialisation would only abort.
std::vector<std::string>& duplicate_registrations();

/// All components of one kind. `Args` is what a factory is called with after its Keys.
template <class Interface, class... Args>
class Registry {
 public:
  using Factory = std::function<std::shared_ptr<Interface>(Keys, Args...)>;
  struct Item {
    Component about;
    Factory make;
  };

  /// The one registry of this interface; it lives in the framework's shared library, so that
  /// plugins add to the same one.
  static Registry& instance();

  void add(Component about, Factory make) {
    const auto found = items_.find(about.name);
    if (found != items_.end()) {
      duplicate_registrations().push_back(fmt::format("{} '{}' is registered by both {} and {}",
                                                      about.kind, about.name,
                                                      found->second.about.file, about.file));
      return;
    }
    const auto name = about.name;
    items_.emplace(name, Item{std::move(about), std::move(make)});
  }

  const std::map<std::string, Item>& items() const { return items_; }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& [name, item] : items_) names.push_back(name);
    return names;
  }

 private:
  std::map<std::string, Item> items_;
};

/// A component made from YAML, with what it read.
template <class Interface>
struct Built {
  std::shared_ptr<Interface> component;
  const Component* about = nullptr;
  std::shared_ptr<KeyLog> reading;

  explicit operator bool() const { return component != nullptr; }
};

/// The name in `spec`, which is a word or a map with the key `name`; empty (and a problem) if
/// there is none.
std::string component_name(const Value& spec, const std::string& kind, Problems& problems);

/// Makes the component that `spec` describes. `reserved` reads the keys that the framework itself
/// understands in such a map. On a problem the result is empty.
template <class Interface, class... Args>
Built<Interface> build(const Registry<Interface, Args...>& registry, const std::string& kind,
                       const Value& spec, Problems& problems,
                       const std::function<void(Keys&)>& reserved,
                       std::type_identity_t<Args>... args) {
  const auto name = component_name(spec, kind, problems);
  if (name.empty()) return {};
  const auto found = registry.items().find(name);
  if (found == registry.items().end()) {
    const auto* written = spec.find("name");
    problems.add((written == nullptr ? spec : *written).mark,
                 fmt::format("there is no {} '{}'{} ({}s: {})", kind, name,
                             did_you_mean(name, registry.names()), kind, joined(registry.names())));
    return {};
  }
  static const Value no_keys;
  auto reading = new_reading(fmt::format("{} '{}'", kind, name), problems);
  Keys keys(spec.is_map() ? spec : no_keys, reading);
  keys.raw("name");
  if (reserved) reserved(keys);
  Built<Interface> built{found->second.make(keys, std::forward<Args>(args)...),
                         &found->second.about, reading};
  keys.finish();
  return built;
}

/// Adds a component during static initialisation; made by the IMPRINT_... macros.
template <class RegistryType, class Type>
struct Registration {
  explicit Registration(Component about) {
    RegistryType::instance().add(std::move(about), [](Keys keys, auto&&... args) {
      return std::make_shared<Type>(keys, std::forward<decltype(args)>(args)...);
    });
  }
};

}  // namespace imprint
