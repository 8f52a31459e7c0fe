#include <fmt/format.h>

#include <limits>
#include <set>
#include <stdexcept>

#include "framework/data/formats/torch_file.h"
#include "framework/data/formats/torch_storages.h"
#include "framework/data/formats/zip.h"

namespace imprint {
namespace {

struct StorageClass {
  std::string_view name;
  torch::ScalarType type;
};

constexpr StorageClass kStorageClasses[] = {
    {"torch.FloatStorage", torch::kFloat32}, {"torch.DoubleStorage", torch::kFloat64},
    {"torch.HalfStorage", torch::kFloat16},  {"torch.BFloat16Storage", torch::kBFloat16},
    {"torch.LongStorage", torch::kInt64},    {"torch.IntStorage", torch::kInt32},
    {"torch.ShortStorage", torch::kInt16},   {"torch.CharStorage", torch::kInt8},
    {"torch.ByteStorage", torch::kUInt8},    {"torch.BoolStorage", torch::kBool}};

// Pieces of a pickle of protocol 2. It remembers nothing, so that each piece stands for itself.

template <typename Integer>
std::string pickled_bytes(Integer value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string pickled_text(std::string_view text) {
  return "X" + pickled_bytes(static_cast<uint32_t>(text.size())) + std::string(text);
}

std::string pickled_integer(int64_t value) {
  if (value >= std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max())
    return "J" + pickled_bytes(static_cast<int32_t>(value));
  return "\x8a\x08" + pickled_bytes(value);
}

std::string pickled_tuple(const std::string& items) { return "(" + items + "t"; }

std::string pickled_integers(torch::IntArrayRef values) {
  std::string items;
  for (const auto value : values) items += pickled_integer(value);
  return pickled_tuple(items);
}

/// "torch.FloatStorage".
std::string pickled_global(std::string_view name) {
  const auto dot = name.rfind('.');
  return fmt::format("c{}\n{}\n", name.substr(0, dot), name.substr(dot + 1));
}

std::string pickled_ordered_dict() { return pickled_global("collections.OrderedDict") + ")R"; }

/// Of a contiguous tensor, also where its own differ since a dimension has size 1.
std::vector<int64_t> plain_strides(torch::IntArrayRef sizes) {
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;)
    strides[i - 1] = strides[i] * std::max<int64_t>(sizes[i], 1);
  return strides;
}

/// A call that makes the tensor from the file `key` of the archive.
std::string pickled_tensor(const Tensor& tensor, const std::string& storage_name,
                           const std::string& key) {
  const auto storage =
      pickled_tuple(pickled_text("storage") + pickled_global(storage_name) + pickled_text(key) +
                    pickled_text("cpu") + pickled_integer(tensor.numel())) +
      "Q";
  const std::string offset = pickled_integer(0), requires_gradient = "\x89";
  return pickled_global("torch._utils._rebuild_tensor_v2") +
         pickled_tuple(storage + offset + pickled_integers(tensor.sizes()) +
                       pickled_integers(plain_strides(tensor.sizes())) + requires_gradient +
                       pickled_ordered_dict()) +
         "R";
}

}  // namespace

std::optional<std::string> torch_storage_name(torch::ScalarType type) {
  for (const auto& known : kStorageClasses)
    if (known.type == type) return std::string(known.name);
  return std::nullopt;
}

std::optional<torch::ScalarType> torch_storage_type(std::string_view name) {
  for (const auto& known : kStorageClasses)
    if (known.name == name) return known.type;
  return std::nullopt;
}

void write_torch_file(const std::filesystem::path& file,
                      const std::vector<std::pair<std::string, Tensor>>& tensors) {
  std::set<std::string> names;
  std::vector<Tensor> flat;
  auto pickle = "\x80\x02" + pickled_ordered_dict() + "(";
  for (const auto& [name, tensor] : tensors) {
    const auto storage = torch_storage_name(tensor.scalar_type());
    if (!names.insert(name).second)
      throw std::runtime_error(fmt::format("tensor '{}' comes twice", name));
    if (!storage)
      throw std::runtime_error(fmt::format("tensor '{}' is {}, which a file of weights cannot hold",
                                           name, c10::toString(tensor.scalar_type())));
    const auto key = std::to_string(flat.size());
    flat.push_back(tensor.detach().cpu().contiguous());
    pickle += pickled_text(name) + pickled_tensor(flat.back(), *storage, key);
  }
  pickle += "u.";

  constexpr uint64_t alignment = 64;
  ZipWriter zip(file);
  zip.add("archive/data.pkl", {pickle}, alignment);
  zip.add("archive/byteorder", {"little"}, alignment);
  for (size_t i = 0; i < flat.size(); ++i) {
    const auto* const data = static_cast<const char*>(flat[i].const_data_ptr());
    zip.add(fmt::format("archive/data/{}", i), {{data, flat[i].nbytes()}}, alignment);
  }
  zip.add("archive/version", {"3\n"}, alignment);
  zip.close();
}

}  // namespace imprint
