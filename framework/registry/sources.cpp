#include "framework/registry/sources.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "framework/config/digest.h"
#include "framework/config/problems.h"
#include "framework/registry/registry.h"

namespace imprint {
namespace {

std::map<std::string, std::string>& all_digests() {
  static std::map<std::string, std::string> digests;
  return digests;
}

}  // namespace

std::string source_digest(const std::string& file) {
  const auto found = all_digests().find(file);
  if (found != all_digests().end()) return found->second;
  // Never the same twice, so that nothing made by unknown code is reused.
  static const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return fmt::format("unrecorded {}", now);
}

std::string folder_digest(const std::string& folder) {
  Sha256 digest;
  for (const auto& [file, hex] : all_digests())
    if (file.starts_with(folder + "/") && file.find('/', folder.size() + 1) == std::string::npos)
      digest.field(file).field(hex);
  return digest.hex();
}

SourceDigests::SourceDigests(const std::map<std::string, std::string>& digests) {
  all_digests().insert(digests.begin(), digests.end());
}

std::string build_version() { return IMPRINT_BUILD_VERSION; }

void load_plugin(const std::string& path, const Mark& mark) {
  const auto refuse = [&](const std::string& why) {
    throw ConfigError(mark.prefix() + fmt::format("plugin '{}' {}", path, why));
  };
  if (!std::filesystem::exists(path)) refuse("does not exist");
  void* handle = dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (handle == nullptr) refuse(fmt::format("cannot be loaded: {}", dlerror()));
  const auto version = reinterpret_cast<const char* (*)()>(dlsym(handle, "imprint_plugin_version"));
  if (version == nullptr)
    refuse("is no Imprint plugin (build it with imprint_plugin() of find_package(Imprint))");
  if (version() != build_version())
    refuse(fmt::format("was built for {}, this is {}; rebuild it", version(), build_version()));
  if (!duplicate_registrations().empty()) refuse("clashes: " + duplicate_registrations().back());
}

}  // namespace imprint
