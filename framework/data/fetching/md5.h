#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace imprint {

/// MD5 (RFC 1321), fed in pieces: good for nothing but comparing with the digests that publishers
/// of data sets once chose. Everything of our own uses Sha256.
class Md5 {
 public:
  Md5& add(const void* data, size_t bytes);
  /// Thirty-two hexadecimal digits. The object is spent afterwards.
  std::string hex();

 private:
  void block(const uint8_t* data);

  std::array<uint32_t, 4> state_{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  std::array<uint8_t, 64> pending_{};
  uint64_t bytes_ = 0;
};

}  // namespace imprint
