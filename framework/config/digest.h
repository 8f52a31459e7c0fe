#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace imprint {

/// SHA-256 (FIPS 180-4), fed in pieces. Also used by the build tool that digests sources, so it
/// needs nothing but the standard library.
class Sha256 {
 public:
  Sha256& add(const void* data, size_t bytes);
  Sha256& add(std::string_view text) { return add(text.data(), text.size()); }
  /// Text with its length before it, so that ("ab", "c") and ("a", "bc") differ.
  Sha256& field(std::string_view text);
  /// Sixty-four hexadecimal digits. The object is spent afterwards.
  std::string hex();

  /// Without the CPU's own instructions for it, which are five times as fast.
  static Sha256 portable();

 private:
  void blocks(const uint8_t* data, size_t count);

  bool portable_ = false;
  std::array<uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> pending_{};
  uint64_t bytes_ = 0;
};

/// Digest of one text.
std::string sha256(std::string_view text);
/// Digest of a file's contents; empty if it cannot be read.
std::string file_digest(const std::string& file);

}  // namespace imprint
