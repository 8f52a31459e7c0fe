#include "framework/runs/recipe.h"

#include <sstream>

#include "framework/config/digest.h"

namespace imprint {

Recipe& Recipe::add(const std::string& part, std::string value) {
  TORCH_CHECK(parts_.emplace(part, std::move(value)).second, "'", part, "' stands twice in a job");
  return *this;
}

Recipe& Recipe::keys(const std::string& prefix, const std::string& lines) {
  std::istringstream stream(lines);
  for (std::string line; std::getline(stream, line);) {
    const auto colon = line.find(": ");
    if (colon != std::string::npos) add(prefix + line.substr(0, colon), line.substr(colon + 2));
  }
  return *this;
}

Recipe& Recipe::component(const std::string& role, const Component& about, const KeyLog& reading,
                          bool with_late) {
  add(role, about.name);
  add(role + " source", about.digest());
  return keys(role + ".", reading.address(with_late));
}

std::string Recipe::address() const {
  Sha256 digest;
  for (const auto& [part, value] : parts_) digest.field(part).field(value);
  return digest.hex();
}

std::string Recipe::to_yaml() const {
  auto map = Value::map();
  for (const auto& [part, value] : parts_) map.set(part, Value::scalar(value, true));
  return imprint::to_yaml(map);
}

Recipe Recipe::from_yaml(const std::string& text, const std::string& file) {
  Recipe recipe;
  for (const auto& entry : parse_yaml(text, file).entries)
    recipe.parts_[entry.key] = entry.value.text;
  return recipe;
}

}  // namespace imprint
