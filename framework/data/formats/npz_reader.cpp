#include "framework/data/formats/npz_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <functional>
#include <optional>

#include "framework/config/problems.h"
#include "framework/data/formats/bytes.h"
#include "framework/data/formats/elements.h"
#include "framework/data/formats/zip.h"

namespace imprint {
namespace {

/// Bytes of one array, read in order; `where` starts its messages: "a.npz: array 'x' ".
struct NpyInput {
  std::string where;
  uint64_t left = 0;
  std::function<void(void*, uint64_t)> source;

  [[noreturn]] void refuse(const std::string& why) const {
    throw ConfigError(where + printable(why, 1000));
  }

  void read(void* to, uint64_t bytes) {
    if (bytes > left) refuse("is truncated");
    source(to, bytes);
    left -= bytes;
  }
};

/// What an array's header says.
struct NpyHeader {
  std::string dtype;
  bool fortran = false;
  std::vector<int64_t> shape;
};

/// Reads the Python dict of a header: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
class NpyHeaderText {
 public:
  explicit NpyHeaderText(std::string_view text) : rest_(text) {}

  std::optional<NpyHeader> parse() {
    NpyHeader header;
    bool good = accept("{");
    while (good && !accept("}")) {
      const auto key = quoted();
      good = key && accept(":") && value(*key, header);
      if (!accept(",")) return good && accept("}") ? std::optional(header) : std::nullopt;
    }
    return good ? std::optional(header) : std::nullopt;
  }

 private:
  bool value(std::string_view key, NpyHeader& header) {
    if (key == "fortran_order") {
      header.fortran = accept("True");
      return header.fortran || accept("False");
    }
    if (key == "shape") return tuple(header.shape);
    const auto dtype = quoted();
    header.dtype = dtype.value_or("");
    return key == "descr" && dtype;
  }

  bool tuple(std::vector<int64_t>& sizes) {
    if (!accept("(")) return false;
    while (!accept(")")) {
      skip_spaces();
      int64_t size = 0;
      const auto parsed = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
      if (parsed.ec != std::errc()) return false;
      rest_.remove_prefix(static_cast<size_t>(parsed.ptr - rest_.data()));
      accept("L");  // as Python 2 wrote them
      sizes.push_back(size);
      if (!accept(",")) return accept(")");
    }
    return true;
  }

  std::optional<std::string_view> quoted() {
    skip_spaces();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) return std::nullopt;
    const auto end = rest_.find(rest_[0], 1);
    if (end == std::string_view::npos) return std::nullopt;
    const auto text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }

  bool accept(std::string_view word) {
    skip_spaces();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  void skip_spaces() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size()));
  }

  std::string_view rest_;
};

NpyHeader npy_header_of(NpyInput& input) {
  std::array<uint8_t, 8> start{};
  input.read(start.data(), start.size());
  if (std::memcmp(start.data(), "\x93NUMPY", 6) != 0) input.refuse("is no NumPy array");
  const int version = start[6];
  if (version < 1 || version > 3)
    input.refuse(fmt::format("is in version {} of NumPy's format, known are 1 to 3", version));
  uint32_t length = 0;
  input.read(&length, version == 1 ? 2 : 4);
  if (length > 1 << 16) input.refuse("is damaged: its header is too long");
  std::string text(length, '\0');
  input.read(text.data(), text.size());
  const auto header = NpyHeaderText(text).parse();
  if (!header && text.find("[(") != std::string::npos)
    input.refuse("holds records of several fields; save one array of numbers for each");
  if (!header) input.refuse("is damaged: its header is not NumPy's");
  return *header;
}

/// How elements are read; wider unsigned ones as signed ones of their size.
std::optional<torch::ScalarType> npy_type(std::string_view name) {
  static const std::map<std::string_view, torch::ScalarType> types{
      {"b1", torch::kBool},    {"u1", torch::kUInt8},   {"i1", torch::kInt8},
      {"i2", torch::kInt16},   {"i4", torch::kInt32},   {"i8", torch::kInt64},
      {"u2", torch::kInt16},   {"u4", torch::kInt32},   {"u8", torch::kInt64},
      {"f2", torch::kFloat16}, {"f4", torch::kFloat32}, {"f8", torch::kFloat64}};
  const auto found = types.find(name);
  return found == types.end() ? std::nullopt : std::optional(found->second);
}

torch::ScalarType element_type(const NpyHeader& header, const NpyInput& input) {
  const std::string_view dtype = header.dtype;
  if (dtype.substr(0, 2) == "|O")
    input.refuse("holds Python objects, which are not read; save arrays of numbers");
  const auto type = dtype.empty() ? std::nullopt : npy_type(dtype.substr(1));
  if (!type || std::string_view("<>|=").find(dtype[0]) == std::string_view::npos)
    input.refuse(fmt::format("has elements of type '{}'; numbers and bools can be read", dtype));
  return *type;
}

/// Elements that were read as signed ones, as what they are.
Tensor widened(const Tensor& values, const std::string& dtype, const NpyInput& input) {
  const auto type = dtype.substr(1);
  if (type == "u2") return values.to(torch::kInt64).bitwise_and(0xFFFF);
  if (type == "u4") return values.to(torch::kInt64).bitwise_and(int64_t{0xFFFFFFFF});
  if (type == "u8" && values.lt(0).any().item<bool>())
    input.refuse("has integers of 2^63 and more, which cannot be read");
  return values;
}

Tensor npy_tensor(NpyInput& input) {
  auto [dtype, fortran, shape] = npy_header_of(input);
  const auto type = element_type({dtype, fortran, shape}, input);
  const auto count = element_count(shape);
  if (!count || *count * c10::elementSize(type) != input.left)
    input.refuse(
        fmt::format("is damaged or truncated: it has {} bytes, which its shape {} of '{}' "
                    "does not need",
                    input.left, c10::str(torch::IntArrayRef(shape)), dtype));
  if (fortran) std::reverse(shape.begin(), shape.end());
  auto values = torch::empty(shape, type);
  input.read(values.mutable_data_ptr(), values.nbytes());
  settle_elements(values, dtype[0] == '>');
  values = widened(values, dtype, input);
  if (!fortran) return values;
  std::vector<int64_t> order;
  for (auto i = values.dim(); i-- > 0;) order.push_back(i);
  return values.permute(order).contiguous();
}

std::string array_name(const std::string& member) { return member.substr(0, member.size() - 4); }

}  // namespace

std::map<std::string, Tensor> read_npz(const std::filesystem::path& file,
                                       const std::vector<std::string>& only) {
  const ZipReader zip(file);
  std::vector<std::string> there;
  for (const auto& [member, unused] : zip.members())
    if (member.ends_with(".npy")) there.push_back(array_name(member));
  std::map<std::string, Tensor> arrays;
  for (const auto& name : only.empty() ? there : only) {
    if (!zip.has(name + ".npy"))
      zip.file().refuse(fmt::format("has no array '{}'; it has: {}", name, joined(there)));
    ZipStream stream(zip, name + ".npy");
    NpyInput input{fmt::format("{}: array '{}' ", file.string(), printable(name)), stream.left(),
                   [&](void* to, uint64_t bytes) { stream.read(to, bytes); }};
    arrays[name] = npy_tensor(input);
  }
  return arrays;
}

Tensor read_npy(const std::filesystem::path& path) {
  const InputFile file(path);
  uint64_t offset = 0;
  NpyInput input{path.string() + ": ", file.size(), [&](void* to, uint64_t bytes) {
                   file.read(offset, to, bytes);
                   offset += bytes;
                 }};
  return npy_tensor(input);
}

Tensor read_npy(std::string_view bytes, const std::string& source) {
  NpyInput input{source + ": ", bytes.size(), [&](void* to, uint64_t count) {
                   if (count > 0) std::memcpy(to, bytes.data(), count);
                   bytes.remove_prefix(count);
                 }};
  return npy_tensor(input);
}

}  // namespace imprint
