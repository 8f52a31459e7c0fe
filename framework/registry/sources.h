#pragma once

#include <map>
#include <string>

namespace imprint {

/// Digest of a source file without comments and white space, by its path as the build recorded
/// it. A file that no build recorded (a plugin compiled by hand) has the digest "unrecorded", and
/// results that depend on it are never reused.
std::string source_digest(const std::string& file);

/// Digest of the files of a framework folder, such as "framework/training"; not of those below it.
std::string folder_digest(const std::string& folder);

/// Called by the file that the build generates.
struct SourceDigests {
  explicit SourceDigests(const std::map<std::string, std::string>& digests);
};

/// Version of Imprint and of the LibTorch it was built with; plugins must match it.
std::string build_version();

/// Loads a plugin and with it the components it registers. Throws ConfigError with the reason at
/// `mark`: no such file, not a plugin, built against another version.
void load_plugin(const std::string& path, const struct Mark& mark);

}  // namespace imprint
