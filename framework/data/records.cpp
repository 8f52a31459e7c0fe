#include "framework/data/records.h"

#include <array>
#include <cstring>

#include "framework/config/digest.h"

namespace imprint {
namespace {

// The eight bits of every byte, each as a byte.
const std::array<std::array<uint8_t, 8>, 256>& byte_bits() {
  static const auto table = [] {
    std::array<std::array<uint8_t, 8>, 256> all{};
    for (size_t byte = 0; byte < 256; ++byte)
      for (size_t bit = 0; bit < 8; ++bit) all[byte][bit] = byte >> bit & 1;
    return all;
  }();
  return table;
}

}  // namespace

Records::Records(Tensor values) : store_(std::move(values)) {
  if (store_.defined()) shape_ = store_.sizes().slice(1).vec();
}

Records Records::bits(Tensor packed, int64_t features) {
  TORCH_CHECK(packed.dim() == 2 && packed.scalar_type() == torch::kUInt8 &&
                  packed.size(1) == (features + 7) / 8,
              "bits of ", features, " features need bytes [n, ", (features + 7) / 8, "], not ",
              packed.sizes());
  Records records(packed.contiguous());
  records.features_ = features;
  records.shape_ = {features};
  return records;
}

int64_t Records::size() const {
  if (!defined()) return 0;
  return index_.defined() ? index_.size(0) : store_.size(0);
}

int64_t Records::numel() const {
  int64_t numel = size();
  for (const auto length : shape_) numel *= length;
  return numel;
}

Records Records::at(const Tensor& index) const {
  Records selected(*this);
  selected.index_ = index_.defined() ? index_.index_select(0, index) : index;
  return selected;
}

Records Records::replaced(const Tensor& index, const Tensor& values) const {
  const auto added = features_ > 0 ? packed_bits(values) : values.to(store_.scalar_type());
  auto where = index_.defined() ? index_.clone() : torch::arange(size());
  where.index_copy_(0, index, torch::arange(added.size(0)) + store_.size(0));
  Records records(*this);
  records.store_ = torch::cat({store_, added});
  records.index_ = where;
  return records;
}

Tensor Records::expanded(const Tensor& rows) const {
  if (features_ == 0) return rows;
  const auto n = rows.size(0), bytes = rows.size(1);
  auto values = torch::empty({n, features_}, torch::kUInt8);
  const auto* from = rows.const_data_ptr<uint8_t>();
  auto* to = values.mutable_data_ptr<uint8_t>();
  const auto whole = features_ / 8;
  for (int64_t i = 0; i < n; ++i, from += bytes, to += features_) {
    for (int64_t j = 0; j < whole; ++j) std::memcpy(to + 8 * j, byte_bits()[from[j]].data(), 8);
    for (int64_t j = 8 * whole; j < features_; ++j) to[j] = from[j >> 3] >> (j & 7) & 1;
  }
  return values;
}

Tensor Records::rows(const Tensor& index) const {
  const auto where = index_.defined() ? index_.index_select(0, index) : index;
  return expanded(store_.index_select(0, where));
}

Tensor Records::rows(int64_t from, int64_t to) const {
  if (index_.defined()) return expanded(store_.index_select(0, index_.slice(0, from, to)));
  return expanded(store_.slice(0, from, to));
}

Tensor Records::as_numbers() const { return as_input(all(), torch::kFloat32, torch::kCPU); }

std::string Records::digest() const {
  Sha256 digest;
  if (!defined()) return digest.field("none").hex();
  digest.field(c10::toString(type())).field(c10::str(torch::IntArrayRef(shape_)));
  constexpr int64_t chunk = 4096;
  for (int64_t at = 0; at < size(); at += chunk) {
    const auto values = rows(at, std::min(at + chunk, size())).contiguous();
    digest.add(values.const_data_ptr(), values.nbytes());
  }
  return digest.hex();
}

Tensor as_input(const Tensor& x, torch::ScalarType type, const torch::Device& device) {
  const auto moved = x.to(device);
  if (x.scalar_type() == torch::kUInt8 && x.dim() == 4) return moved.to(type).div_(255);
  return moved.to(type);
}

Tensor packed_bits(const Tensor& values) {
  const auto flat = values.contiguous();
  const auto n = flat.size(0), features = flat.size(1), bytes = (features + 7) / 8;
  auto packed = torch::zeros({n, bytes}, torch::kUInt8);
  const auto* from = flat.const_data_ptr<uint8_t>();
  auto* to = packed.mutable_data_ptr<uint8_t>();
  for (int64_t i = 0; i < n; ++i, from += features, to += bytes)
    for (int64_t j = 0; j < features; ++j)
      to[j >> 3] = static_cast<uint8_t>(to[j >> 3] | (from[j] & 1) << (j & 7));
  return packed;
}

}  // namespace imprint
