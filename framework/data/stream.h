#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <torch/types.h>

#include <cstdint>
#include <string_view>

namespace imprint {

/// A named random stream: a pure function of (seed, purpose, index, ...), so nothing random has to
/// be saved, and one consumer's draws never shift another's.
///
///     const auto order = Stream(seed).at("order", epoch);
///     torch::randperm(n, order.generator());
class Stream {
 public:
  explicit Stream(uint64_t seed) : key_(mixed(seed)) {}

  /// The stream for a purpose within this one.
  Stream at(std::string_view purpose, uint64_t index = 0) const {
    Stream inner(*this);
    for (const char c : purpose) inner.key_ = mixed(inner.key_ ^ static_cast<unsigned char>(c));
    inner.key_ = mixed(inner.key_ ^ mixed(index + 1));
    return inner;
  }

  /// Sixty-four bits that identify the stream.
  uint64_t seed() const { return key_; }

  /// A fresh CPU generator at the start of the stream. Draw on the CPU and move to the device, so
  /// that results do not depend on the device's generator.
  at::Generator generator() const { return at::detail::createCPUGenerator(key_); }

 private:
  static uint64_t mixed(uint64_t x) {  // splitmix64
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  uint64_t key_;
};

}  // namespace imprint
