#include "framework/data/formats/cifar_pickle.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <optional>
#include <set>

#include "framework/data/formats/file.h"
#include "framework/data/formats/pickle.h"

namespace imprint {
namespace {

using CifarKind = PickleValue::Kind;

constexpr int64_t kImageBytes = 3072;
constexpr uint64_t kLongestCifar = uint64_t{1} << 30;

// NumPy moved its modules with version 2.
constexpr std::array<std::string_view, 2> kReconstruct{"numpy.core.multiarray._reconstruct",
                                                       "numpy._core.multiarray._reconstruct"};
/// How Python 3 writes bytes in protocol 2, and no bytes.
constexpr std::string_view kEncode = "_codecs.encode", kBytes = "__builtin__.bytes";

/// The bytes that UTF-8 text stands for in Latin-1.
std::optional<std::string> latin1(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    const bool pair = (byte == 0xC2 || byte == 0xC3) && i + 1 < text.size();
    if (byte >= 0x80 && !pair) return std::nullopt;
    bytes += byte < 0x80 ? text[i] : static_cast<char>(byte << 6 | (text[++i] & 0x3F));
  }
  return bytes;
}

std::optional<std::string> raw_bytes(const PickleValue& value) {
  if (value.is(CifarKind::bytes)) return std::string(value.text);
  const bool encoded = value.is_call(kEncode) && value.argument->items.size() == 2 &&
                       value.argument->items[0]->is(CifarKind::text) &&
                       value.argument->items[1]->reads("latin1");
  return encoded ? latin1(value.argument->items[0]->text) : std::nullopt;
}

/// The value of a dict under a key of ASCII, in whichever way Python writes bytes and text; null:
/// none.
const PickleValue* entry(const PickleValue& dict, const std::string& key) {
  if (!dict.is(CifarKind::dict)) return nullptr;
  for (size_t i = 0; i + 1 < dict.items.size(); i += 2)
    if (dict.items[i]->reads(key) || raw_bytes(*dict.items[i]) == key) return dict.items[i + 1];
  return nullptr;
}

bool is_byte_type(const PickleValue& value) {
  return value.is_call("numpy.dtype") && !value.argument->items.empty() &&
         value.argument->items[0]->reads("u1");
}

/// The array [n, 3072] of bytes that NumPy pickled, with its state (version, shape, type, whether
/// columns come first, bytes); nothing if it is another value.
std::optional<Tensor> pickled_images(const PickleValue& value) {
  if (!value.is_call(kReconstruct[0]) && !value.is_call(kReconstruct[1])) return std::nullopt;
  const auto* const state = value.state;
  if (state == nullptr || !state->is(CifarKind::tuple) || state->items.size() != 5)
    return std::nullopt;
  const auto& shape = state->items[1]->items;
  const auto& fortran = *state->items[3];
  if (!state->items[1]->is(CifarKind::tuple) || shape.size() != 2 ||
      !shape[0]->is(CifarKind::integer) || shape[1]->integer != kImageBytes ||
      !is_byte_type(*state->items[2]) || !fortran.is(CifarKind::boolean))
    return std::nullopt;
  const auto bytes = raw_bytes(*state->items[4]);
  if (!bytes || bytes->empty() || bytes->size() % kImageBytes != 0 ||
      shape[0]->integer != static_cast<int64_t>(bytes->size()) / kImageBytes)
    return std::nullopt;
  const auto n = shape[0]->integer;
  const bool columns_first = fortran.integer != 0;
  auto images = columns_first ? torch::empty({kImageBytes, n}, torch::kUInt8)
                              : torch::empty({n, kImageBytes}, torch::kUInt8);
  std::memcpy(images.mutable_data_ptr(), bytes->data(), bytes->size());
  return columns_first ? images.t() : images;
}

std::optional<Tensor> pickled_labels(const PickleValue& list) {
  if (!list.is(CifarKind::list)) return std::nullopt;
  std::vector<int64_t> labels;
  for (const auto* const item : list.items) {
    if (!item->is(CifarKind::integer)) return std::nullopt;
    labels.push_back(item->integer);
  }
  return torch::tensor(labels, torch::kLong);
}

}  // namespace

PickledCifar read_pickled_cifar(const std::filesystem::path& path, const std::string& label_key) {
  const InputFile file(path);
  if (file.size() > kLongestCifar) file.refuse("is too large for a file of CIFAR");
  const Pickle pickle(file.text(0, file.size()), path.string());
  const std::set<std::string_view> known{kReconstruct[0], kReconstruct[1], "numpy.ndarray",
                                         "numpy.dtype",   kEncode,         kBytes};
  for (const auto& name : pickle.globals())
    if (!known.contains(name))
      file.refuse(
          fmt::format("uses '{}', which a file of CIFAR does not need; it is not run", name));
  const auto *const data = entry(pickle.top(), "data"), *const list =
                                                            entry(pickle.top(), label_key);
  if (data == nullptr || list == nullptr)
    file.refuse(fmt::format("holds no dict with 'data' and '{}'", label_key));
  const auto images = pickled_images(*data);
  const auto labels = pickled_labels(*list);
  if (!images) file.refuse("its 'data' is no array of bytes of shape (n, 3072)");
  if (!labels) file.refuse(fmt::format("its '{}' is no list of integers", label_key));
  return {*images, *labels};
}

}  // namespace imprint
