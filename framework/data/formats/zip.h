#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <vector>

#include "framework/data/formats/file.h"

namespace imprint {

/// Writes a zip file of uncompressed members, with 64-bit sizes. It appears whole when close()
/// returns; the same members give the same bytes. Throws std::runtime_error as OutputFile does.
class ZipWriter {
 public:
  explicit ZipWriter(std::filesystem::path target) : file_(std::move(target)) {}

  const std::filesystem::path& target() const { return file_.target(); }
  bool has(std::string_view name) const;
  /// Adds a member whose contents are `pieces`, one after the other; they start at a multiple of
  /// `alignment` of the file. Keeps nothing of them.
  void add(const std::string& name, std::initializer_list<std::string_view> pieces,
           uint64_t alignment = 1);
  /// Completes the file. Call once, last.
  void close();

 private:
  struct Entry {
    std::string name;
    uint32_t crc = 0;
    uint64_t bytes = 0, offset = 0;
  };

  OutputFile file_;
  std::vector<Entry> entries_;
};

/// Reads a zip file, 64-bit or not, by seeking. Nothing in it is believed: throws ConfigError
/// naming the file when it is damaged, encrypted, or claims sizes that it cannot hold.
class ZipReader {
 public:
  struct Member {
    uint64_t size = 0;    ///< of its contents
    uint64_t packed = 0;  ///< of its bytes in the file
    uint64_t offset = 0;  ///< of its local header
    uint64_t most = 0;    ///< its bytes end here or before
    uint32_t crc = 0;
    bool deflated = false;  ///< or stored as it is
  };

  /// Reads the directory alone.
  explicit ZipReader(std::filesystem::path path);

  const InputFile& file() const { return file_; }
  const std::map<std::string, Member>& members() const { return members_; }
  bool has(const std::string& name) const { return members_.contains(name); }
  /// Refuses a name that is not there.
  const Member& at(const std::string& name) const;
  /// The whole of a small member; refuses one of more than `most` bytes.
  std::string text(const std::string& name, uint64_t most) const;

 private:
  InputFile file_;
  std::map<std::string, Member> members_;
};

/// The contents of one member, read in order. The last byte is given only if the checksum is right.
/// The ZipReader must outlive it.
class ZipStream {
 public:
  ZipStream(const ZipReader& zip, const std::string& name);
  ~ZipStream();
  ZipStream(const ZipStream&) = delete;
  ZipStream& operator=(const ZipStream&) = delete;

  uint64_t left() const { return left_; }
  /// Exactly `bytes` bytes; asking for more than are left refuses the file as truncated.
  void read(void* to, uint64_t bytes);

 private:
  struct Inflater;
  uint64_t inflate_into(char* to, uint64_t bytes);

  const InputFile& file_;
  std::string name_;
  ZipReader::Member member_;
  uint64_t offset_ = 0;       ///< of the next packed byte
  uint64_t packed_left_ = 0;  ///< packed bytes not yet read from the file
  uint64_t left_ = 0;
  uint32_t crc_ = 0;
  std::unique_ptr<Inflater> inflater_;  ///< if the member is deflated
};

}  // namespace imprint
