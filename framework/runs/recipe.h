#pragma once

#include <map>
#include <string>

#include "framework/registry/registry.h"

namespace imprint {

/// What the result of a job depends on, part by part; its address is their hash. Kept beside the
/// result as `job.yaml`, so that `imprint why` can say which part made a difference.
class Recipe {
 public:
  Recipe() = default;
  explicit Recipe(std::string kind) { add("kind", std::move(kind)); }

  Recipe& add(const std::string& part, std::string value);
  /// One part per line of canonical text ("epochs: 5"), each after `prefix`.
  Recipe& keys(const std::string& prefix, const std::string& lines);
  /// A component's name, source and keys.
  Recipe& component(const std::string& role, const Component& about, const KeyLog& reading,
                    bool with_late);

  std::string address() const;
  const std::map<std::string, std::string>& parts() const { return parts_; }

  std::string to_yaml() const;
  /// From job.yaml; throws ConfigError.
  static Recipe from_yaml(const std::string& text, const std::string& file);

 private:
  std::map<std::string, std::string> parts_;
};

}  // namespace imprint
