#include "framework/data/formats/safetensors.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "framework/data/formats/elements.h"
#include "framework/data/formats/file.h"

namespace imprint {
namespace {

const std::map<std::string, torch::ScalarType>& types() {
  static const std::map<std::string, torch::ScalarType> all{
      {"F64", torch::kFloat64},   {"F32", torch::kFloat32}, {"F16", torch::kFloat16},
      {"BF16", torch::kBFloat16}, {"I64", torch::kInt64},   {"I32", torch::kInt32},
      {"I16", torch::kInt16},     {"I8", torch::kInt8},     {"U8", torch::kUInt8},
      {"BOOL", torch::kBool}};
  return all;
}

std::string type_name(torch::ScalarType type) {
  for (const auto& [name, known] : types())
    if (known == type) return name;
  throw std::runtime_error(fmt::format("safetensors cannot hold {}", c10::toString(type)));
}

constexpr uint64_t kLongestHeader = uint64_t{1} << 26;
constexpr std::string_view kMetadata = "__metadata__";

/// What a header says of one tensor.
struct HeaderEntry {
  std::string name;
  torch::ScalarType type = torch::kFloat32;
  std::vector<int64_t> shape;
  uint64_t from = 0, to = 0;  ///< within the data
};

/// Whether it is a list of whole numbers, none negative.
bool is_counts(const nlohmann::json& value) {
  return value.is_array() && std::all_of(value.begin(), value.end(), [](const auto& item) {
           return item.is_number_unsigned();
         });
}

HeaderEntry header_entry(const InputFile& file, const std::string& name,
                         const nlohmann::json& entry, uint64_t data_bytes) {
  const auto refuse = [&](const std::string& why) {
    file.refuse(fmt::format("damaged: tensor '{}' {}", name, why));
  };
  const auto member = [&](const char* key) {
    return entry.is_object() && entry.contains(key) ? entry.at(key) : nlohmann::json();
  };
  const auto dtype = member("dtype"), shape = member("shape"), offsets = member("data_offsets");
  if (!dtype.is_string() || !is_counts(shape) || !is_counts(offsets) || offsets.size() != 2)
    refuse("needs a dtype, a shape and two data_offsets");
  const auto type = types().find(dtype.get<std::string>());
  if (type == types().end()) refuse(fmt::format("has the unknown dtype {}", dtype.dump()));
  HeaderEntry found{name, type->second, shape.get<std::vector<int64_t>>(), offsets[0], offsets[1]};
  if (found.from > found.to || found.to > data_bytes)
    refuse(fmt::format("lies at {} to {} of {} bytes", found.from, found.to, data_bytes));
  const auto count = element_count(found.shape);
  if (!count || *count * c10::elementSize(found.type) != found.to - found.from)
    refuse(fmt::format("has {} bytes, which its shape {} does not need", found.to - found.from,
                       shape.dump()));
  return found;
}

/// The entries of the header, in the order of their bytes, of which no two share any.
std::vector<HeaderEntry> header_entries(const InputFile& file, const nlohmann::json& header,
                                        uint64_t data_bytes) {
  std::vector<HeaderEntry> entries;
  for (const auto& [name, entry] : header.items())
    if (name != kMetadata) entries.push_back(header_entry(file, name, entry, data_bytes));
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return std::pair(a.from, a.to) < std::pair(b.from, b.to);
  });
  for (size_t i = 1; i < entries.size(); ++i)
    if (entries[i].from < entries[i - 1].to)
      file.refuse(fmt::format("damaged: tensors '{}' and '{}' share bytes", entries[i - 1].name,
                              entries[i].name));
  return entries;
}

std::string header_text(const std::map<std::string, Tensor>& tensors) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  uint64_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    if (name == kMetadata)
      throw std::runtime_error(fmt::format("safetensors cannot hold a tensor named {}", name));
    const uint64_t end = offset + tensor.numel() * tensor.element_size();
    header[name] = {{"dtype", type_name(tensor.scalar_type())},
                    {"shape", tensor.sizes().vec()},
                    {"data_offsets", {offset, end}}};
    offset = end;
  }
  try {
    auto text = header.dump();
    text.append((64 - (8 + text.size()) % 64) % 64, ' ');
    return text;
  } catch (const nlohmann::json::exception&) {
    throw std::runtime_error("safetensors cannot hold a tensor whose name is not UTF-8");
  }
}

}  // namespace

void save_tensors(const std::filesystem::path& file, const std::map<std::string, Tensor>& tensors) {
  const auto header = header_text(tensors);
  const uint64_t length = header.size();
  OutputFile output(file);
  output.write({reinterpret_cast<const char*>(&length), sizeof length});
  output.write(header);
  for (const auto& [name, tensor] : tensors) {
    const auto flat = tensor.detach().cpu().contiguous();
    output.write({static_cast<const char*>(flat.const_data_ptr()), flat.nbytes()});
  }
  output.publish();
}

namespace {

/// The entries of a file, with offsets from its beginning.
std::vector<HeaderEntry> entries_of(const InputFile& file) {
  uint64_t length = 0;
  if (file.size() >= sizeof length) file.read(0, &length, sizeof length);
  if (length == 0 || length > kLongestHeader || length > file.size() - sizeof length)
    file.refuse("is no safetensors file, or truncated");
  const auto header = nlohmann::json::parse(file.text(sizeof length, length), nullptr, false);
  if (!header.is_object()) file.refuse("is no safetensors file: its header is no JSON object");
  const auto data = sizeof length + length;
  auto entries = header_entries(file, header, file.size() - data);
  for (auto& entry : entries) {
    entry.from += data;
    entry.to += data;
  }
  return entries;
}

Tensor copied(const InputFile& file, const HeaderEntry& entry) {
  auto tensor = torch::empty(entry.shape, entry.type);
  file.read(entry.from, tensor.mutable_data_ptr(), tensor.nbytes());
  settle_elements(tensor, false);
  return tensor;
}

}  // namespace

std::map<std::string, Tensor> load_tensors(const std::filesystem::path& path) {
  const InputFile file(path);
  std::map<std::string, Tensor> tensors;
  for (const auto& entry : entries_of(file)) tensors[entry.name] = copied(file, entry);
  return tensors;
}

std::map<std::string, Tensor> map_tensors(const std::filesystem::path& path) {
  const InputFile file(path);
  const auto bytes = file.mapped();
  std::map<std::string, Tensor> tensors;
  for (const auto& entry : entries_of(file)) {
    // A flag may be any byte in a damaged file: those are copied and settled.
    const bool aligned = entry.from % 64 == 0 && entry.from < entry.to;
    tensors[entry.name] =
        aligned && entry.type != torch::kBool
            ? torch::from_blob(
                  bytes.get() + entry.from, entry.shape, [bytes](void*) {}, entry.type)
            : copied(file, entry);
  }
  return tensors;
}

}  // namespace imprint
