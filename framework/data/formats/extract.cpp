#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include "framework/config/problems.h"
#include "framework/data/formats/archive.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kDeepest = 100;

/// The path that a member unpacks to, relative to the folder; empty for the folder itself.
fs::path path_within(const ArchiveReader& reader) {
  const auto& member = reader.member();
  if (member.kind == Member::Kind::link) reader.refuse("is a link, expected a file or a folder");
  if (member.kind == Member::Kind::other)
    reader.refuse("is neither a file nor a folder (a device or a pipe)");
  const fs::path name(member.name);
  fs::path within;
  for (const auto& part : name) {
    if (name.is_absolute() || part == "..") reader.refuse("would lie outside the folder");
    if (!part.empty() && part != ".") within /= part;
  }
  if (within.empty() && member.kind == Member::Kind::file) reader.refuse("has no name");
  if (std::distance(within.begin(), within.end()) > kDeepest)
    reader.refuse(fmt::format("lies more than {} folders deep", kDeepest));
  return within;
}

/// Files on their way into a folder: they gather in a temporary folder within, which goes away with
/// all that is left in it, and so do the folders that were made for nothing.
class Staging {
 public:
  explicit Staging(fs::path folder) : folder_(std::move(folder)) {
    for (auto missing = fs::absolute(folder_).lexically_normal(); !fs::exists(missing);
         missing = missing.parent_path())
      made_.push_back(missing);
    fs::create_directories(folder_);
    auto name = (folder_ / ".extracting.XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw fs::filesystem_error("mkdtemp", folder_,
                                 std::error_code(errno, std::system_category()));
    temporary_ = name;
  }
  ~Staging() {
    std::error_code ignored;
    fs::remove_all(temporary_, ignored);
    for (const auto& folder : made_) fs::remove(folder, ignored);  // only if it is empty
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  void add_folder(const fs::path& within) { fs::create_directories(temporary_ / within); }

  void add_file(const fs::path& within, ByteSource& contents) {
    const auto path = temporary_ / within;
    fs::create_directories(path.parent_path());
    if (fs::exists(path)) contents.refuse("occurs twice in the archive");
    errno = 0;
    std::ofstream file(path, std::ios::binary);
    for (size_t got = 0; file && (got = contents.some(block_.data(), block_.size())) > 0;)
      file.write(block_.data(), static_cast<std::streamsize>(got));
    file.close();
    if (!file) contents.refuse(fmt::format("cannot be written: {}", std::strerror(errno)));
  }

  /// Moves everything to its place.
  void publish() {
    std::vector<fs::path> folders, files;
    for (const auto& entry : fs::recursive_directory_iterator(temporary_)) {
      const auto within = entry.path().lexically_relative(temporary_);
      const auto target = folder_ / within;
      if (fs::exists(target) && fs::is_directory(target) != entry.is_directory())
        throw fs::filesystem_error("rename", target, std::make_error_code(std::errc::file_exists));
      (entry.is_directory() ? folders : files).push_back(within);
    }
    for (const auto& within : folders) fs::create_directories(folder_ / within);
    for (const auto& within : files) fs::rename(temporary_ / within, folder_ / within);
    made_.clear();
  }

 private:
  fs::path folder_, temporary_;
  std::vector<fs::path> made_;  ///< folders that were not there, the innermost first
  std::vector<char> block_ = std::vector<char>(size_t{1} << 18);
};

}  // namespace

std::vector<fs::path> extract(const fs::path& archive, const fs::path& folder,
                              const ArchiveLimit& limit) {
  std::vector<fs::path> files;
  ArchiveReader reader(archive, limit);
  try {
    Staging staging(folder);
    while (reader.next()) {
      const auto within = path_within(reader);
      if (reader.member().kind == Member::Kind::folder) {
        staging.add_folder(within);
      } else {
        staging.add_file(within, reader.contents());
        files.push_back(within);
      }
    }
    staging.publish();
  } catch (const fs::filesystem_error& error) {
    reader.refuse(fmt::format("cannot be written to {}: {}",
                              (error.path1().empty() ? folder : error.path1()).string(),
                              error.code().message()));
  }
  return files;
}

}  // namespace imprint
