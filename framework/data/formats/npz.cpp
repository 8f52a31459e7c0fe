#include "framework/data/formats/npz.h"

#include <bit>
#include <charconv>
#include <stdexcept>

namespace imprint {
namespace {

static_assert(std::endian::native == std::endian::little, "npy_dtype names little-endian types");

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text;
  for (const auto size : shape) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return shape.size() == 1 ? "(" + text + ",)" : "(" + text + ")";
}

/// The .npy header of format 1.0, padded so that the data begin at a multiple of 64.
std::string npy_header(std::string_view dtype, const std::vector<int64_t>& shape) {
  auto dictionary = "{'descr': '" + std::string(dtype) +
                    "', 'fortran_order': False, 'shape': " + shape_text(shape) + ", }";
  const size_t before = 10, newline = 1;
  dictionary.append(63 - (before + dictionary.size() + newline + 63) % 64, ' ');
  dictionary += '\n';
  const auto length = dictionary.size();
  return std::string("\x93NUMPY\x01\0", 8) + static_cast<char>(length & 255) +
         static_cast<char>(length >> 8) + dictionary;
}

/// Bytes of one element of "<f8", "|S16" and the like; 0 if it is none.
size_t element_bytes(std::string_view dtype) {
  if (dtype.size() < 3 || std::string_view("<>|").find(dtype[0]) == std::string_view::npos ||
      std::string_view("biufcS").find(dtype[1]) == std::string_view::npos) {
    return 0;
  }
  size_t bytes = 0;
  const auto* end = dtype.data() + dtype.size();
  return std::from_chars(dtype.data() + 2, end, bytes).ptr == end ? bytes : 0;
}

/// Empty, or what is wrong with the array.
std::string complaint(std::string_view dtype, const std::vector<int64_t>& shape, size_t bytes) {
  auto expected = element_bytes(dtype);
  if (expected == 0) return "has an unknown dtype: " + std::string(dtype);
  for (const auto size : shape) {
    if (size < 0) return "has a negative size in its shape " + shape_text(shape);
    expected *= static_cast<size_t>(size);
  }
  if (expected == bytes) return {};
  return "has " + std::to_string(bytes) + " bytes, but its shape " + shape_text(shape) + " of " +
         std::string(dtype) + " needs " + std::to_string(expected);
}

}  // namespace

void NpzWriter::add(std::string_view name, std::string_view dtype,
                    const std::vector<int64_t>& shape, const void* data, size_t bytes) {
  const auto refuse = [&](const std::string& why) {
    throw std::runtime_error("array " + std::string(name) + " of " + zip_.target().string() + " " +
                             why);
  };
  const auto file = std::string(name) + ".npy";
  if (zip_.has(file)) refuse("is added twice");
  if (const auto wrong = complaint(dtype, shape, bytes); !wrong.empty()) refuse(wrong);
  zip_.add(file, {npy_header(dtype, shape), {static_cast<const char*>(data), bytes}});
}

}  // namespace imprint
