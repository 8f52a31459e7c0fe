#pragma once

#include <csetjmp>
#include <cstdio>
#include <memory>

#include "framework/data/formats/images.h"

namespace imprint {

/// An image file that is being decoded; between images.cpp and the decoders only.
struct ImageFile {
  std::filesystem::path path;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream;

  /// Throws ConfigError: the file and why.
  [[noreturn]] void refuse(const std::string& why) const;
  /// Refuses after the decoder gave up: at the end of the file, or with `message`.
  [[noreturn]] void refuse_contents(bool truncated, const char* message) const;
  /// Refuses sizes that no real image has, before memory is taken for them.
  void check_size(int64_t width, int64_t height) const;
};

/// The pixels as they lie in the file: uint8 [height, width, 1 or 3].
Tensor decode_png(const ImageFile& file);
Tensor decode_jpeg(const ImageFile& file);

/// Runs `step`, calls of a C library that reports errors by longjmp to `back`; false if it did.
/// Whatever has a destructor lives outside of `step`, so that the jump skips none. Not inline: no
/// local variable of the caller can be caught between setjmp and the jump.
template <class Step>
[[gnu::noinline]] bool survives(std::jmp_buf& back, const Step& step) {
  if (setjmp(back) != 0) return false;
  step();
  return true;
}

}  // namespace imprint
