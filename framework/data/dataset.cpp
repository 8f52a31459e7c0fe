#include "framework/data/dataset.h"

#include "framework/config/digest.h"

namespace imprint {

template <>
SourceRegistry& SourceRegistry::instance() {
  static SourceRegistry registry;
  return registry;
}

Dataset Dataset::at(const Tensor& index) const {
  return {x.at(index), y.index_select(0, index), classes};
}

std::string Dataset::digest() const {
  Sha256 digest;
  digest.field(x.digest()).field(Records(y).digest());
  return digest.field(std::to_string(classes)).hex();
}

std::string Split::digest() const {
  Sha256 digest;
  for (const auto* piece : {&train, &test, &reference, &population, &tune})
    digest.field(piece->digest());
  return digest.hex();
}

}  // namespace imprint
