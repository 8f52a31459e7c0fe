#include "framework/registry/registry.h"

#include <algorithm>

namespace imprint {

bool Component::has_hook(const std::string& hook) const {
  return std::find(hooks.begin(), hooks.end(), hook) != hooks.end();
}

std::vector<std::string>& duplicate_registrations() {
  static std::vector<std::string> duplicates;
  return duplicates;
}

std::string component_name(const Value& spec, const std::string& kind, Problems& problems) {
  const auto* name = spec.is_map() ? spec.find("name") : &spec;
  if (name != nullptr && name->is_scalar() && !name->text.empty()) return name->text;
  problems.add(
      name == nullptr ? spec.mark : name->mark,
      fmt::format("expected the name of a {}: a word, or a map with the key 'name'", kind));
  return "";
}

}  // namespace imprint
