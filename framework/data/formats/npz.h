#pragma once

#include <ranges>

#include "framework/data/formats/zip.h"

namespace imprint {

/// NumPy's name of an element type; empty for types that NpzWriter::add does not take as they are.
template <typename T>
inline constexpr std::string_view npy_dtype{};
template <>
inline constexpr std::string_view npy_dtype<double> = "<f8";
template <>
inline constexpr std::string_view npy_dtype<float> = "<f4";
template <>
inline constexpr std::string_view npy_dtype<int64_t> = "<i8";
template <>
inline constexpr std::string_view npy_dtype<uint8_t> = "|u1";
template <>
inline constexpr std::string_view npy_dtype<bool> = "|b1";

/// A span, vector or array of such elements.
template <typename Range>
concept NpyValues =
    std::ranges::contiguous_range<Range> && !npy_dtype<std::ranges::range_value_t<Range>>.empty();

/// Writes a NumPy .npz file: an uncompressed zip of .npy arrays, for `numpy.load(path)`.
///
/// The file appears under its name, whole and on disk, when close() returns; a writer destroyed
/// before leaves nothing. The same arrays give the same bytes. Throws std::runtime_error when the
/// file cannot be written or an array is not what its shape says; after a failed write the writer
/// is closed and the target as it was.
class NpzWriter {
 public:
  /// The folder of `target` must exist.
  explicit NpzWriter(std::filesystem::path target) : zip_(std::move(target)) {}

  /// Adds an array in row-major order. `dtype` is NumPy's, of fixed size: "<f8", "|b1", "|S16". An
  /// empty shape is a single value. Reads `data` at once and keeps nothing of it.
  void add(std::string_view name, std::string_view dtype, const std::vector<int64_t>& shape,
           const void* data, size_t bytes);

  template <NpyValues Values>
  void add(std::string_view name, const Values& values, const std::vector<int64_t>& shape) {
    using Element = std::ranges::range_value_t<Values>;
    add(name, npy_dtype<Element>, shape, std::ranges::data(values),
        std::ranges::size(values) * sizeof(Element));
  }

  /// A vector: the shape is the number of values.
  template <NpyValues Values>
  void add(std::string_view name, const Values& values) {
    add(name, values, {static_cast<int64_t>(std::ranges::size(values))});
  }

  /// Completes the file. Call once, last.
  void close() { zip_.close(); }

 private:
  ZipWriter zip_;
};

}  // namespace imprint
