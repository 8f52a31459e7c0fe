#include "framework/runs/store.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "framework/config/digest.h"
#include "framework/data/formats/bytes.h"
#include "framework/data/formats/safetensors.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;

constexpr auto store_format = "imprint store, format 2\n";
constexpr auto digest_file = "digests";  // as sha256sum writes them
constexpr auto draft_prefix = ".tmp-";

// Of one made before formats were numbered.
bool has_entries(const fs::path& root) {
  std::error_code none;
  return fs::exists(root / "train", none) || fs::exists(root / "snapshot", none);
}

void check_format(const fs::path& root) {
  const auto file = root / "format";
  if (!fs::exists(file)) {
    if (has_entries(root))
      throw ConfigError(fmt::format(
          "the store '{}' was written by an older version of Imprint; delete it, or choose another "
          "with --store",
          root.string()));
    return write_file(file, store_format);
  }
  const auto found = read_file(file);
  if (found != store_format)
    throw ConfigError(fmt::format(
        "the store '{}' was written by another version of Imprint ('{}', this one writes '{}'); "
        "delete it, or choose another with --store",
        root.string(), printable(found.substr(0, found.find('\n'))),
        std::string(store_format, std::strlen(store_format) - 1)));
}

// An entry may vanish, or the disk fail, between two looks at it.
template <class Read>
auto read_or_damaged(const std::string& kind, const std::string& address, const Read& read) {
  try {
    return read();
  } catch (const DamagedEntry&) {
    throw;
  } catch (const nlohmann::json::exception& error) {
    throw DamagedEntry(kind, address, error.what());
  } catch (const std::runtime_error& error) {
    throw DamagedEntry(kind, address, error.what());
  }
}

}  // namespace

void sweep_folder(const fs::path& folder) {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    const auto name = entry.path().filename().string();
    const auto found = name.rfind(draft_prefix);
    if (found != std::string::npos && abandoned(name.substr(found + std::strlen(draft_prefix))))
      fs::remove_all(entry.path(), none);
  }
}

std::string read_file(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    throw std::runtime_error(
        fmt::format("{}: cannot be read: {}", file.string(), std::strerror(errno)));
  try {
    return {std::istreambuf_iterator<char>(stream), {}};
  } catch (const std::ios_base::failure& error) {
    throw std::runtime_error(fmt::format("{}: cannot be read: {}", file.string(), error.what()));
  }
}

DamagedEntry::DamagedEntry(std::string kind_, std::string address_, const std::string& why)
    : std::runtime_error(fmt::format("{} {}: {}", kind_, address_.substr(0, 12), why)),
      kind(std::move(kind_)),
      address(std::move(address_)) {}

Store::Store(fs::path root) : root_(std::move(root)) {
  std::error_code error;
  fs::create_directories(root_ / "leases", error);
  if (error || ::access(root_.c_str(), W_OK) != 0)
    throw ConfigError(fmt::format("the store '{}' cannot be written: {}", root_.string(),
                                  error ? error.message() : std::strerror(errno)));
  check_format(root_);
}

bool Store::has(const std::string& kind, const std::string& address) const {
  std::error_code unknown;
  return fs::exists(at(kind, address), unknown);
}

fs::path Store::at(const std::string& kind, const std::string& address) const {
  return root_ / kind / address;
}

std::vector<std::string> Store::entries(const std::string& kind) const {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(root_ / kind, none)) {
    const auto name = entry.path().filename().string();
    if (!name.starts_with('.')) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

fs::path Store::checked(const std::string& kind, const std::string& address,
                        const std::string& file) const {
  const auto folder = at(kind, address);
  std::error_code unknown;
  if (!fs::exists(folder / file, unknown) || !fs::exists(folder / digest_file, unknown))
    throw DamagedEntry(kind, address, file + " is missing");
  std::istringstream lines(read_file(folder / digest_file));
  const auto digest = file_digest((folder / file).string());
  for (std::string line; std::getline(lines, line);)
    if (line == digest + "  " + file) return folder / file;
  throw DamagedEntry(kind, address, file + " is not what was written (its digest differs)");
}

std::map<std::string, Tensor> Store::tensors(const std::string& kind, const std::string& address,
                                             const std::string& file) const {
  return read_or_damaged(
      kind, address, [&] { return load_tensors(checked(kind, address, file + ".safetensors")); });
}

std::map<std::string, Tensor> Store::mapped_tensors(const std::string& kind,
                                                    const std::string& address,
                                                    const std::string& file) const {
  return read_or_damaged(
      kind, address, [&] { return map_tensors(checked(kind, address, file + ".safetensors")); });
}

nlohmann::json Store::json(const std::string& kind, const std::string& address,
                           const std::string& file) const {
  return read_or_damaged(kind, address,
                         [&] { return nlohmann::json::parse(text(kind, address, file)); });
}

std::string Store::text(const std::string& kind, const std::string& address,
                        const std::string& file) const {
  return read_or_damaged(kind, address, [&] { return read_file(checked(kind, address, file)); });
}

std::optional<fs::path> Store::set_aside(const std::string& kind,
                                         const std::string& address) const {
  std::error_code error;
  fs::create_directories(root_ / "damaged", error);
  const auto away =
      root_ / "damaged" / fmt::format("{}-{}-{}", kind, address.substr(0, 16), unique_suffix());
  fs::rename(at(kind, address), away, error);
  return error ? std::nullopt : std::optional(away);
}

void Store::remove(const std::string& kind, const std::string& address) const {
  std::error_code gone;
  const auto away = root_ / kind / (draft_prefix + unique_suffix());
  fs::rename(at(kind, address), away, gone);
  if (!gone) fs::remove_all(away, gone);
}

void Store::sweep() const {
  std::error_code none;
  for (const auto& kind : fs::directory_iterator(root_, none))
    if (kind.is_directory(none)) sweep_folder(kind.path());
}

std::optional<Lease> Store::lease(const std::string& address) const {
  return Lease::attempt(root_ / "leases" / address);
}

LeaseHolder Store::lease_holder(const std::string& address) const {
  return holder_of(root_ / "leases" / address);
}

Draft::Draft(const Store& store, std::string kind, std::string address)
    : final_(store.at(kind, address)),
      temporary_(store.root() / kind / (draft_prefix + unique_suffix())) {
  std::error_code error;
  fs::create_directories(temporary_, error);
  if (error)
    throw StorageError(fmt::format("cannot create {}: {}", temporary_.string(), error.message()));
}

Draft::~Draft() {
  std::error_code ignored;
  if (!committed_) fs::remove_all(temporary_, ignored);
}

void Draft::tensors(const std::map<std::string, Tensor>& tensors, const std::string& file) {
  const auto name = file + ".safetensors";
  save_tensors(temporary_ / name, tensors);
  digests_ += file_digest((temporary_ / name).string()) + "  " + name + "\n";
}

void Draft::text(const std::string& file, const std::string& contents) {
  write_file(temporary_ / file, contents);
  digests_ += sha256(contents) + "  " + file + "\n";
}

void Draft::commit() {
  write_file(temporary_ / digest_file, digests_);
  std::error_code error;
  fs::rename(temporary_, final_, error);
  // Somebody else was faster with the same contents: success.
  if (error && !fs::exists(final_))
    throw StorageError(fmt::format("cannot put {} in place: {}", final_.string(), error.message()));
  if (error)
    fs::remove_all(temporary_);
  else
    sync_path(final_.parent_path());
  committed_ = true;
}

}  // namespace imprint
