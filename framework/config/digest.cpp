#include "framework/config/digest.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <vector>

namespace imprint {
namespace {

constexpr std::array<uint32_t, 64> round_constants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t big_endian(const uint8_t* p) {
  return uint32_t{p[0]} << 24 | uint32_t{p[1]} << 16 | uint32_t{p[2]} << 8 | uint32_t{p[3]};
}

}  // namespace

void Sha256::block(const uint8_t* data) {
  std::array<uint32_t, 64> w;
  for (size_t i = 0; i < 16; ++i) w[i] = big_endian(data + 4 * i);
  for (size_t i = 16; i < 64; ++i) {
    const auto s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const auto s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (size_t i = 0; i < 64; ++i) {
    const auto s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const auto t1 = h + s1 + ((e & f) ^ (~e & g)) + round_constants[i] + w[i];
    const auto s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const auto t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const std::array<uint32_t, 8> sum{a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; ++i) state_[i] += sum[i];
}

Sha256& Sha256::add(const void* data, size_t bytes) {
  const auto* from = static_cast<const uint8_t*>(data);
  while (bytes > 0) {
    const auto filled = static_cast<size_t>(bytes_ % 64);
    if (filled == 0 && bytes >= 64) {
      block(from);
      from += 64, bytes -= 64, bytes_ += 64;
      continue;
    }
    const auto taken = std::min(bytes, 64 - filled);
    std::memcpy(pending_.data() + filled, from, taken);
    from += taken, bytes -= taken, bytes_ += taken;
    if (bytes_ % 64 == 0) block(pending_.data());
  }
  return *this;
}

Sha256& Sha256::field(std::string_view text) {
  return add(std::to_string(text.size()) + ":").add(text);
}

std::string Sha256::hex() {
  const auto bits = bytes_ * 8;
  add("\x80");
  while (bytes_ % 64 != 56) add(std::string_view("\0", 1));
  std::array<uint8_t, 8> length;
  for (size_t i = 0; i < 8; ++i) length[i] = static_cast<uint8_t>(bits >> (56 - 8 * i));
  add(length.data(), length.size());
  std::string text;
  for (const auto word : state_)
    for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[(word >> shift) & 15];
  return text;
}

std::string sha256(std::string_view text) { return Sha256().add(text).hex(); }

std::string file_digest(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::vector<char> buffer(1 << 20);
  Sha256 digest;
  while (stream.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) ||
         stream.gcount() > 0)
    digest.add(buffer.data(), static_cast<size_t>(stream.gcount()));
  return stream.eof() && !stream.bad() ? digest.hex() : "";
}

}  // namespace imprint
