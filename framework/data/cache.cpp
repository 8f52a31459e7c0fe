#include "framework/data/cache.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <system_error>

#include "framework/config/digest.h"
#include "framework/data/formats/safetensors.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;

constexpr uintmax_t worth_caching = 1 << 20;

struct CacheName {
  std::string family;  // entries of which one can be current: same source, same keys
  std::string entry;
  bool worth_it = false;
};

CacheName cache_name(const Source& source, const Component& about, const std::string& keys) {
  const auto files = source.files();
  Sha256 digest;
  digest.field(about.digest())
      .field(folder_digest("framework/data"))
      .field(folder_digest("framework/data/formats"))
      .field(keys);
  uintmax_t bytes = 0;
  for (const auto& file : files) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) continue;  // load() says what is wrong with it
    bytes += static_cast<uintmax_t>(status.st_size);
    digest.field(fs::absolute(file).string()).field(std::to_string(status.st_size));
    digest.field(fmt::format("{}.{}", status.st_mtim.tv_sec, status.st_mtim.tv_nsec));
  }
  const auto family = fmt::format("{}-{}", about.name, sha256(keys).substr(0, 12));
  return {family, fmt::format("{}-{}.safetensors", family, digest.hex().substr(0, 16)),
          bytes >= worth_caching};
}

Loaded from_entry(const fs::path& file) {
  auto tensors = map_tensors(file);
  const auto sizes = tensors.at("sizes");
  const auto classes = sizes[0].item<int64_t>(), packed = sizes[1].item<int64_t>();
  const auto text = tensors.at("digest");
  const auto& features = tensors.at("features");
  return {{packed > 0 ? Records::bits(features, packed) : Records(features), tensors.at("labels"),
           classes},
          {reinterpret_cast<const char*>(text.const_data_ptr<int8_t>()),
           static_cast<size_t>(text.numel())}};
}

// Names in this order put the features at a multiple of 64 bytes: a digest has 64 digits.
void write_entry(const fs::path& file, const Loaded& loaded) {
  auto text = torch::empty({static_cast<int64_t>(loaded.digest.size())}, torch::kInt8);
  std::copy(loaded.digest.begin(), loaded.digest.end(), text.mutable_data_ptr<int8_t>());
  const auto& x = loaded.data.x;
  save_tensors(file, {{"digest", text},
                      {"features", x.store()},
                      {"labels", loaded.data.y},
                      {"sizes", torch::tensor({loaded.data.classes, x.packed_features()})}});
}

void replace_entry(const fs::path& folder, const CacheName& name, const Loaded& loaded) {
  fs::create_directories(folder);
  write_entry(folder / name.entry, loaded);
  for (const auto& entry : fs::directory_iterator(folder)) {
    const auto other = entry.path().filename().string();
    // Whoever has mapped the old file keeps it.
    if (other.starts_with(name.family + "-") && other != name.entry) fs::remove(entry.path());
  }
}

}  // namespace

Tensor room_for(const std::vector<int64_t>& shape) {
  const auto bytes = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
  if (bytes <= int64_t{1} << 30 || data_home().empty()) return torch::empty(shape, torch::kUInt8);
  fs::create_directories(data_home() / "cache");
  auto name = (data_home() / "cache/.decoding-XXXXXX").string();
  const int descriptor = ::mkstemp(name.data());
  const auto refuse = [&](const char* what) {
    const auto reason = std::system_category().message(errno);
    if (descriptor >= 0) ::close(descriptor);
    throw ConfigError(fmt::format("{}: cannot {} {} bytes: {}", name, what, bytes, reason));
  };
  if (descriptor < 0) refuse("create a file of");
  ::unlink(name.c_str());
  // Takes the space now: writing into a mapping of a full disk would kill the process.
  if (const int error = ::posix_fallocate(descriptor, 0, bytes); error != 0) {
    errno = error;
    refuse("find room for");
  }
  const auto size = static_cast<size_t>(bytes);
  void* start = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (start == MAP_FAILED) refuse("map");
  ::close(descriptor);
  return torch::from_blob(
      start, shape, [size](void* first) { ::munmap(first, size); }, torch::kUInt8);
}

Loaded load_records(const Source& source, const Component& about, const std::string& keys) {
  const auto name = cache_name(source, about, keys);
  const auto folder = data_home().empty() ? fs::path() : data_home() / "cache";
  const bool cached = name.worth_it && !folder.empty();
  if (std::error_code unreadable; cached && fs::exists(folder / name.entry, unreadable)) {
    try {
      return from_entry(folder / name.entry);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "reading the data again: %s\n", error.what());
    }
  }
  auto data = source.load();
  const auto digest = data.digest();
  Loaded loaded{std::move(data), digest};
  if (!cached) return loaded;
  try {
    replace_entry(folder, name, loaded);
    return from_entry(folder / name.entry);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "no cache of the data: %s\n", error.what());
    return loaded;
  }
}

}  // namespace imprint
