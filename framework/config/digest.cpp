#include "framework/config/digest.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <vector>

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

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

using State = std::array<uint32_t, 8>;

#ifdef __x86_64__

bool has_instructions() {
  static const bool has = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    const bool known = __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0;
    return known && (b & bit_SHA) != 0 && __builtin_cpu_supports("sse4.1") != 0;
  }();
  return has;
}

// The instructions want the words as (A, B, E, F) and (C, D, G, H), four rounds at a time.
__attribute__((target("sha,sse4.1"))) void fast_blocks(State& state, const uint8_t* data,
                                                       size_t count) {
  const auto order = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  auto* words = reinterpret_cast<__m128i*>(state.data());
  const auto cdab = _mm_shuffle_epi32(_mm_loadu_si128(words), 0xb1);
  const auto hgfe = _mm_shuffle_epi32(_mm_loadu_si128(words + 1), 0x1b);
  auto abef = _mm_alignr_epi8(cdab, hgfe, 8);
  auto cdgh = _mm_blend_epi16(hgfe, cdab, 0xf0);
  for (; count > 0; --count, data += 64) {
    const auto abef_before = abef, cdgh_before = cdgh;
    __m128i w[4];
    for (int i = 0; i < 4; ++i)
      w[i] = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(data) + i), order);
    for (int i = 0; i < 16; ++i) {
      const auto constants =
          _mm_loadu_si128(reinterpret_cast<const __m128i*>(round_constants.data()) + i);
      const auto sum = _mm_add_epi32(w[i % 4], constants);
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
      const auto last = w[(i + 3) % 4];
      const auto next = _mm_add_epi32(_mm_sha256msg1_epu32(w[i % 4], w[(i + 1) % 4]),
                                      _mm_alignr_epi8(last, w[(i + 2) % 4], 4));
      w[i % 4] = _mm_sha256msg2_epu32(next, last);
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const auto feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128(words, _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(words + 1, _mm_alignr_epi8(dchg, feba, 8));
}

#else

bool has_instructions() { return false; }
void fast_blocks(State&, const uint8_t*, size_t) {}

#endif

void plain_block(State& state, const uint8_t* data) {
  std::array<uint32_t, 64> w;
  for (size_t i = 0; i < 16; ++i) w[i] = big_endian(data + 4 * i);
  for (size_t i = 16; i < 64; ++i) {
    const auto s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const auto s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (size_t i = 0; i < 64; ++i) {
    const auto s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const auto t1 = h + s1 + ((e & f) ^ (~e & g)) + round_constants[i] + w[i];
    const auto s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const auto t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const std::array<uint32_t, 8> sum{a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; ++i) state[i] += sum[i];
}

}  // namespace

Sha256 Sha256::portable() {
  Sha256 digest;
  digest.portable_ = true;
  return digest;
}

void Sha256::blocks(const uint8_t* data, size_t count) {
  if (!portable_ && has_instructions()) return fast_blocks(state_, data, count);
  for (size_t i = 0; i < count; ++i) plain_block(state_, data + 64 * i);
}

Sha256& Sha256::add(const void* data, size_t bytes) {
  const auto* from = static_cast<const uint8_t*>(data);
  while (bytes > 0) {
    const auto filled = static_cast<size_t>(bytes_ % 64);
    if (filled == 0 && bytes >= 64) {
      const auto whole = bytes / 64;
      blocks(from, whole);
      from += 64 * whole, bytes -= 64 * whole, bytes_ += 64 * whole;
      continue;
    }
    const auto taken = std::min(bytes, 64 - filled);
    std::memcpy(pending_.data() + filled, from, taken);
    from += taken, bytes -= taken, bytes_ += taken;
    if (bytes_ % 64 == 0) blocks(pending_.data(), 1);
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
