#include "framework/data/dataset.h"

#include "framework/config/digest.h"

namespace imprint {
namespace {

void add_tensor(Sha256& digest, const Tensor& tensor) {
  if (!tensor.defined()) {
    digest.field("none");
    return;
  }
  const auto flat = tensor.contiguous();
  digest.field(c10::toString(flat.scalar_type())).field(c10::str(flat.sizes()));
  digest.add(flat.const_data_ptr(), flat.nbytes());
}

}  // namespace

template <>
SourceRegistry& SourceRegistry::instance() {
  static SourceRegistry registry;
  return registry;
}

Dataset Dataset::at(const Tensor& index) const {
  return {x.index_select(0, index), y.index_select(0, index), classes};
}

std::string Dataset::digest() const {
  Sha256 digest;
  add_tensor(digest, x);
  add_tensor(digest, y);
  return digest.field(std::to_string(classes)).hex();
}

Tensor as_input(const Tensor& x, torch::ScalarType type, const torch::Device& device) {
  const auto moved = x.to(device);
  if (x.scalar_type() == torch::kUInt8 && x.dim() == 4) return moved.to(type).div_(255);
  return moved.to(type);
}

std::string Split::digest() const {
  Sha256 digest;
  for (const auto* piece : {&train, &test, &reference, &population, &tune})
    digest.field(piece->digest());
  return digest.hex();
}

}  // namespace imprint
