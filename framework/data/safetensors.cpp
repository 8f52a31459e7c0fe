#include "framework/data/safetensors.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

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

[[noreturn]] void refuse_tensors(const std::filesystem::path& file, const std::string& why) {
  throw std::runtime_error(fmt::format("{}: {}", file.string(), why));
}

void write_all(int descriptor, const void* data, size_t bytes, const std::filesystem::path& file) {
  const auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const auto wrote = ::write(descriptor, at, bytes);
    if (wrote < 0) refuse_tensors(file, fmt::format("cannot be written: {}", std::strerror(errno)));
    at += wrote;
    bytes -= static_cast<size_t>(wrote);
  }
}

}  // namespace

void save_tensors(const std::filesystem::path& file, const std::map<std::string, Tensor>& tensors) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  std::vector<Tensor> flat;
  uint64_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    flat.push_back(tensor.detach().cpu().contiguous());
    const uint64_t end = offset + flat.back().nbytes();
    header[name] = {{"dtype", type_name(tensor.scalar_type())},
                    {"shape", tensor.sizes().vec()},
                    {"data_offsets", {offset, end}}};
    offset = end;
  }
  auto text = header.dump();
  text.append((64 - (8 + text.size()) % 64) % 64, ' ');
  const uint64_t length = text.size();
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0)
    refuse_tensors(file, fmt::format("cannot be written: {}", std::strerror(errno)));
  write_all(descriptor, &length, sizeof(length), file);
  write_all(descriptor, text.data(), text.size(), file);
  for (const auto& tensor : flat)
    write_all(descriptor, tensor.const_data_ptr(), tensor.nbytes(), file);
  const bool synced = ::fsync(descriptor) == 0;
  ::close(descriptor);
  if (!synced) refuse_tensors(file, fmt::format("cannot be synced: {}", std::strerror(errno)));
}

std::map<std::string, Tensor> load_tensors(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) refuse_tensors(file, fmt::format("cannot be read: {}", std::strerror(errno)));
  uint64_t length = 0;
  stream.read(reinterpret_cast<char*>(&length), sizeof(length));
  if (!stream || length > (uint64_t{1} << 27))
    refuse_tensors(file, "is no safetensors file, or truncated");
  std::string text(length, ' ');
  stream.read(text.data(), static_cast<std::streamsize>(length));
  const auto header = nlohmann::json::parse(text, nullptr, false);
  if (!stream || !header.is_object()) refuse_tensors(file, "is no safetensors file, or truncated");
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    const auto type = types().find(entry.value("dtype", ""));
    if (type == types().end()) refuse_tensors(file, fmt::format("'{}' has an unknown type", name));
    auto tensor = torch::empty(entry.at("shape").get<std::vector<int64_t>>(), type->second);
    const auto from = entry.at("data_offsets").at(0).get<uint64_t>();
    const auto to = entry.at("data_offsets").at(1).get<uint64_t>();
    if (to - from != tensor.nbytes())
      refuse_tensors(file, fmt::format("'{}' has the wrong size", name));
    stream.seekg(static_cast<std::streamoff>(8 + length + from));
    stream.read(static_cast<char*>(tensor.mutable_data_ptr()),
                static_cast<std::streamsize>(tensor.nbytes()));
    if (!stream) refuse_tensors(file, fmt::format("truncated within '{}'", name));
    tensors[name] = tensor;
  }
  return tensors;
}

}  // namespace imprint
