#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "framework/data/formats/bytes.h"

struct archive;

namespace imprint {

/// How much an archive may hold: a small file can unpack to any size.
struct ArchiveLimit {
  int64_t bytes = int64_t{1} << 34;  ///< of all members together
  int64_t members = 1'000'000;
};

/// One entry of an archive.
struct Member {
  enum class Kind { file, folder, link, other };

  std::string name;    ///< as the archive has it
  int64_t bytes = -1;  ///< -1: not known before it is read
  Kind kind = Kind::file;
};

/// Reads a .tar, .tar.gz (.tgz) or .zip member by member, without writing anything. Which it is
/// says its contents, not its name. Time and memory are bounded by the limit. Every call throws
/// ConfigError with the name of the archive, and of the member where there is one.
class ArchiveReader {
 public:
  explicit ArchiveReader(const std::filesystem::path& file, const ArchiveLimit& limit = {});
  ~ArchiveReader();
  ArchiveReader(const ArchiveReader&) = delete;
  ArchiveReader& operator=(const ArchiveReader&) = delete;

  /// Moves to the next member; false after the last, once the rest of the file is known to be good.
  bool next();
  const Member& member() const { return member_; }
  /// What the member holds; valid until the next call of `next`.
  ByteSource& contents() { return *contents_; }

  /// Throws ConfigError "<archive>(<member>): <why>".
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  class Contents;
  struct Feed;

  void open();
  size_t take(void* to, size_t bytes);
  [[noreturn]] void fail();

  std::string file_;
  ArchiveLimit limit_;
  std::unique_ptr<Feed> feed_;  ///< the uncompressed tar; null for zip, which libarchive seeks in
  std::unique_ptr<archive, int (*)(archive*)> archive_;
  Member member_;
  std::unique_ptr<ByteSource> contents_;
  int64_t members_ = 0, bytes_ = 0;
};

/// Whether a file is called like an archive: .tgz, .tar.gz, .tar or .zip.
bool is_archive_name(const std::filesystem::path& file);

/// Whether the member called `name` is the one called `wanted` by its publisher: one path is the
/// end of the other.
bool is_member(const std::string& name, const std::string& wanted);

std::vector<Member> list_members(const std::filesystem::path& archive,
                                 const ArchiveLimit& limit = {});

/// The first member that is called `wanted`, as a source of bytes.
std::unique_ptr<ByteSource> open_member(const std::filesystem::path& archive,
                                        const std::string& wanted, const ArchiveLimit& limit = {});

/// Unpacks an archive into `folder`, which is made if need be, and returns the files, relative to
/// it. Refuses members that are neither files nor folders or would lie outside; on any error,
/// nothing of the archive is left in the folder. Files that are there already are replaced.
std::vector<std::filesystem::path> extract(const std::filesystem::path& archive,
                                           const std::filesystem::path& folder,
                                           const ArchiveLimit& limit = {});

}  // namespace imprint
