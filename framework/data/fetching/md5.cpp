#include "framework/data/fetching/md5.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace imprint {
namespace {

// RFC 1321, 3.4: the integer parts of 2^32 |sin(i + 1)|.
const std::array<uint32_t, 64>& md5_sines() {
  static const auto sines = [] {
    std::array<uint32_t, 64> values{};
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<uint32_t>(std::abs(std::sin(static_cast<double>(i + 1))) * 0x1p32);
    return values;
  }();
  return sines;
}

constexpr std::array<std::array<int, 4>, 4> md5_rotations{
    {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}}};

}  // namespace

void Md5::block(const uint8_t* data) {
  std::array<uint32_t, 16> words;
  std::memcpy(words.data(), data, 64);
  auto [a, b, c, d] = state_;
  for (uint32_t i = 0; i < 64; ++i) {
    const auto round = i / 16;
    const auto mixed = round == 0   ? (b & c) | (~b & d)
                       : round == 1 ? (d & b) | (~d & c)
                       : round == 2 ? b ^ c ^ d
                                    : c ^ (b | ~d);
    const auto word = round == 0 ? i : round == 1 ? 5 * i + 1 : round == 2 ? 3 * i + 5 : 7 * i;
    const auto sum = a + mixed + md5_sines()[i] + words[word % 16];
    a = d, d = c, c = b;
    b += std::rotl(sum, md5_rotations[round][i % 4]);
  }
  state_[0] += a, state_[1] += b, state_[2] += c, state_[3] += d;
}

Md5& Md5::add(const void* data, size_t bytes) {
  static_assert(std::endian::native == std::endian::little, "words are read as they lie");
  const auto* from = static_cast<const uint8_t*>(data);
  while (bytes > 0) {
    const auto filled = static_cast<size_t>(bytes_ % 64);
    const auto taken = std::min(bytes, 64 - filled);
    if (taken == 64) {
      block(from);
    } else {
      std::memcpy(pending_.data() + filled, from, taken);
      if (filled + taken == 64) block(pending_.data());
    }
    from += taken, bytes -= taken, bytes_ += taken;
  }
  return *this;
}

std::string Md5::hex() {
  const uint64_t bits = bytes_ * 8;
  const uint8_t one = 0x80, zero = 0;
  add(&one, 1);
  while (bytes_ % 64 != 56) add(&zero, 1);
  add(&bits, 8);
  std::string text;
  for (const auto word : state_)
    for (int byte = 0; byte < 4; ++byte)
      for (const int shift : {4, 0}) text += "0123456789abcdef"[word >> (8 * byte + shift) & 15];
  return text;
}

}  // namespace imprint
