#include "framework/data/formats/elements.h"

#include <algorithm>

namespace imprint {

std::optional<uint64_t> element_count(const std::vector<int64_t>& shape) {
  constexpr int64_t most = int64_t{1} << 48;
  constexpr size_t most_dimensions = 64;
  if (shape.size() > most_dimensions) return std::nullopt;
  // Strides are products of the sizes, too, with 1 in the place of 0.
  int64_t strided = 1;
  bool empty = false;
  for (const auto size : shape) {
    if (size < 0 || size > most / strided) return std::nullopt;
    strided *= std::max<int64_t>(size, 1);
    empty = empty || size == 0;
  }
  return empty ? 0 : static_cast<uint64_t>(strided);
}

void settle_elements(Tensor& values, bool big_endian) {
  const auto bytes = static_cast<size_t>(values.element_size());
  if (big_endian && bytes > 1) {
    auto* const begin = static_cast<char*>(values.mutable_data_ptr());
    for (auto* at = begin; at < begin + values.nbytes(); at += bytes) std::reverse(at, at + bytes);
  }
  if (values.scalar_type() == torch::kBool) values = values.view(torch::kUInt8).ne(0);
}

}  // namespace imprint
