#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>

namespace imprint {

/// A place does not give what is asked of it; says why, without the place's name. Another place
/// may.
class PlaceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Told as a transfer goes on: bytes there are, and bytes of the whole (0: not known).
using OnTransfer = std::function<void(int64_t done, int64_t whole)>;

/// Downloads `url` (http or https) to `file`, by way of `file`.part, which is resumed where an
/// earlier call or a broken connection left it. `digest` is that of the file as downloaded; without
/// one nothing is resumed from an earlier call, since nothing would tell whether the pieces fit.
/// What has another digest is kept as `file`.wrong. Throws PlaceError, or ConfigError when the file
/// cannot be written.
void download(const std::string& url, const std::string& digest, const std::filesystem::path& file,
              const OnTransfer& on_transfer);

}  // namespace imprint
