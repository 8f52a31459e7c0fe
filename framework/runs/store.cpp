#include "framework/runs/store.h"

#include <unistd.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <sstream>

#include "framework/data/formats/safetensors.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;

std::string unique_suffix() {
  static std::atomic<int> counter{0};
  return fmt::format("{}-{}", ::getpid(), counter++);
}

}  // namespace

std::string read_file(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    throw std::runtime_error(
        fmt::format("{}: cannot be read: {}", file.string(), std::strerror(errno)));
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

Store::Store(fs::path root) : root_(std::move(root)) {
  std::error_code error;
  fs::create_directories(root_ / "leases", error);
  if (error || ::access(root_.c_str(), W_OK) != 0)
    throw ConfigError(fmt::format("the store '{}' cannot be written: {}", root_.string(),
                                  error ? error.message() : std::strerror(errno)));
}

bool Store::has(const std::string& kind, const std::string& address) const {
  return fs::exists(at(kind, address));
}

fs::path Store::at(const std::string& kind, const std::string& address) const {
  return root_ / kind / address;
}

std::map<std::string, Tensor> Store::tensors(const std::string& kind, const std::string& address,
                                             const std::string& file) const {
  return load_tensors(at(kind, address) / (file + ".safetensors"));
}

nlohmann::json Store::json(const std::string& kind, const std::string& address,
                           const std::string& file) const {
  return nlohmann::json::parse(read_file(at(kind, address) / file));
}

std::optional<FileLock> Store::lease(const std::string& address) const {
  return FileLock::attempt(root_ / "leases" / address, true);
}

Draft::Draft(const Store& store, std::string kind, std::string address)
    : final_(store.at(kind, address)),
      temporary_(store.root() / kind / (".tmp-" + address.substr(0, 16) + "-" + unique_suffix())) {
  fs::create_directories(temporary_);
}

Draft::~Draft() {
  std::error_code ignored;
  if (!committed_) fs::remove_all(temporary_, ignored);
}

void Draft::tensors(const std::map<std::string, Tensor>& tensors, const std::string& file) {
  save_tensors(temporary_ / (file + ".safetensors"), tensors);
}

void Draft::text(const std::string& file, const std::string& contents) {
  write_file(temporary_ / file, contents);
}

void Draft::commit() {
  std::error_code error;
  fs::rename(temporary_, final_, error);
  // Somebody else was faster with the same contents: success.
  if (error && !fs::exists(final_))
    throw std::runtime_error(
        fmt::format("{}: cannot be put in place: {}", final_.string(), error.message()));
  if (error) fs::remove_all(temporary_);
  committed_ = true;
}

}  // namespace imprint
