#include "framework/data/formats/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <locale.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>

#include "framework/config/problems.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;

// A tar stores at most this much beside the contents of a member: headers, long names, padding.
constexpr int64_t kTarOverhead = 8192;

bool starts_like_zip(const fs::path& file) {
  std::array<char, 4> start{};
  std::ifstream(file, std::ios::binary).read(start.data(), start.size());
  const std::string_view magic(start.data(), start.size());
  return magic == "PK\3\4" || magic == "PK\5\6";
}

std::string beyond_limit(int64_t limit) {
  return fmt::format("the archive unpacks to more than {} bytes", limit);
}

Member member_of(archive_entry* entry) {
  Member member;
  for (const char* name : {archive_entry_pathname_utf8(entry), archive_entry_pathname(entry)})
    if (member.name.empty() && name != nullptr) member.name = name;
  if (archive_entry_size_is_set(entry) != 0) member.bytes = archive_entry_size(entry);
  const auto type = archive_entry_filetype(entry);
  const bool link = type == AE_IFLNK || archive_entry_hardlink(entry) != nullptr ||
                    archive_entry_symlink(entry) != nullptr;
  member.kind = link                            ? Member::Kind::link
                : type == AE_IFDIR              ? Member::Kind::folder
                : type == AE_IFREG || type == 0 ? Member::Kind::file
                                                : Member::Kind::other;
  return member;
}

// libarchive loses the UTF-8 names of a zip in a locale that cannot write them, as "C" is.
class Utf8Names {
 public:
  Utf8Names() : before_(uselocale(utf8())) {}
  ~Utf8Names() { uselocale(before_); }
  Utf8Names(const Utf8Names&) = delete;
  Utf8Names& operator=(const Utf8Names&) = delete;

 private:
  static locale_t utf8() {
    static const locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    return locale;
  }
  locale_t before_;  ///< of this thread
};

// A member with the archive that it lies in.
class LoneMember final : public ByteSource {
 public:
  explicit LoneMember(std::unique_ptr<ArchiveReader> reader)
      : ByteSource(reader->contents().name()), reader_(std::move(reader)) {}

 protected:
  size_t take(void* to, size_t bytes) override {
    return ended_ ? 0 : reader_->contents().some(to, bytes);
  }
  // The checksum of a .tar.gz stands at its end.
  void check_end() override {
    while (!ended_) ended_ = !reader_->next();
  }

 private:
  std::unique_ptr<ArchiveReader> reader_;
  bool ended_ = false;
};

}  // namespace

/// Hands a tar to libarchive, decompressed by zlib, which checks the checksum; libarchive does not.
struct ArchiveReader::Feed {
  std::unique_ptr<ByteSource> source;
  int64_t limit = 0, left = 0;  ///< bytes that all members may hold, and that may still come
  std::vector<char> block = std::vector<char>(size_t{1} << 18);
  std::string wrong;  ///< why `some` threw: exceptions do not pass through C

  size_t some() {
    const auto got = source->some(block.data(), block.size());
    left -= static_cast<int64_t>(got);
    if (left < 0) source->refuse(beyond_limit(limit));
    return got;
  }
};

class ArchiveReader::Contents final : public ByteSource {
 public:
  Contents(ArchiveReader& reader, std::string name)
      : ByteSource(std::move(name)), reader_(reader) {}

 protected:
  size_t take(void* to, size_t bytes) override { return reader_.take(to, bytes); }

 private:
  ArchiveReader& reader_;
};

ArchiveReader::ArchiveReader(const fs::path& file, const ArchiveLimit& limit)
    : file_(file.string()), limit_(limit), archive_(archive_read_new(), archive_read_free) {
  auto source = open_file(file);
  if (!starts_like_zip(file)) {
    feed_ = std::make_unique<Feed>();
    feed_->source = std::move(source);
    feed_->limit = limit.bytes;
    feed_->left = std::min(limit.bytes, int64_t{1} << 60) +
                  (std::min<int64_t>(limit.members, 1 << 30) + 256) * kTarOverhead;
  }
  open();
}

ArchiveReader::~ArchiveReader() = default;

void ArchiveReader::open() {
  auto* const reading = archive_.get();
  if (feed_ == nullptr) {
    archive_read_support_format_zip(reading);
    if (archive_read_open_filename(reading, file_.c_str(), 1 << 18) != ARCHIVE_OK) fail();
    return;
  }
  archive_read_support_format_tar(reading);
  const auto next_block = [](archive* to, void* client, const void** block) -> la_ssize_t {
    auto& feed = *static_cast<Feed*>(client);
    try {
      *block = feed.block.data();
      return static_cast<la_ssize_t>(feed.some());
    } catch (const ConfigError& error) {
      feed.wrong = std::string(error.what()).substr(feed.source->name().size() + 2);
      archive_set_error(to, EIO, "no more bytes");
      return -1;
    }
  };
  if (archive_read_open(reading, feed_.get(), nullptr, next_block, nullptr) != ARCHIVE_OK) fail();
}

bool ArchiveReader::next() {
  const Utf8Names locale;
  archive_entry* entry = nullptr;
  const int code = archive_read_next_header(archive_.get(), &entry);
  if (code == ARCHIVE_EOF) {
    while (feed_ != nullptr && feed_->some() > 0) {
    }
    return false;
  }
  if (code != ARCHIVE_OK && code != ARCHIVE_WARN) fail();
  member_ = member_of(entry);
  contents_ =
      std::make_unique<Contents>(*this, fmt::format("{}({})", file_, printable(member_.name, 200)));
  if (++members_ > limit_.members)
    throw ConfigError(fmt::format("{}: holds more than {} members", file_, limit_.members));
  return true;
}

size_t ArchiveReader::take(void* to, size_t bytes) {
  if (member_.bytes > limit_.bytes) refuse(beyond_limit(limit_.bytes));
  const auto got = archive_read_data(archive_.get(), to, bytes);
  if (got < 0) fail();
  bytes_ += got;
  if (bytes_ > limit_.bytes) refuse(beyond_limit(limit_.bytes));
  return static_cast<size_t>(got);
}

void ArchiveReader::refuse(const std::string& why) const {
  throw ConfigError(fmt::format("{}: {}", contents_ == nullptr ? file_ : contents_->name(), why));
}

void ArchiveReader::fail() {
  if (feed_ != nullptr && !feed_->wrong.empty()) refuse(feed_->wrong);
  const char* why = archive_error_string(archive_.get());
  refuse(fmt::format("cannot be read: {}", why == nullptr ? "unknown error" : why));
}

bool is_archive_name(const fs::path& file) {
  const auto name = file.filename().string();
  const auto ends = [&](std::string_view end) { return name.ends_with(end); };
  return ends(".tgz") || ends(".tar.gz") || ends(".tar") || ends(".zip");
}

bool is_member(const std::string& name, const std::string& wanted) {
  const auto is_end = [](const std::string& path, const std::string& end) {
    return path == end || path.ends_with("/" + end);
  };
  const auto plain = name.starts_with("./") ? name.substr(2) : name;
  return !plain.empty() && (is_end(plain, wanted) || is_end(wanted, plain));
}

std::vector<Member> list_members(const fs::path& archive, const ArchiveLimit& limit) {
  std::vector<Member> members;
  ArchiveReader reader(archive, limit);
  while (reader.next()) members.push_back(reader.member());
  return members;
}

std::unique_ptr<ByteSource> open_member(const fs::path& archive, const std::string& wanted,
                                        const ArchiveLimit& limit) {
  auto reader = std::make_unique<ArchiveReader>(archive, limit);
  while (reader->next())
    if (reader->member().kind == Member::Kind::file && is_member(reader->member().name, wanted))
      return std::make_unique<LoneMember>(std::move(reader));
  throw ConfigError(fmt::format("{}: has no member {}", archive.string(), excerpt(wanted)));
}

}  // namespace imprint
