#pragma once

#include <memory>
#include <string>

#include "framework/data/dataset.h"

namespace imprint {

/// A data set's component from YAML, as users build it, without loading it; throws ConfigError.
inline std::shared_ptr<Source> source_of(const std::string& yaml) {
  Problems problems;
  const auto value = parse_yaml(yaml, "");
  auto built = build(SourceRegistry::instance(), "dataset", value, problems, {});
  problems.raise();
  return built.component;
}

}  // namespace imprint
