#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "framework/data/formats/zip.h"

namespace imprint {
namespace {

constexpr uint64_t kLocalHeader = 30, kDirectoryEntry = 46, kEndOfDirectory = 22;
constexpr uint64_t kLongestDirectory = uint64_t{1} << 26;
// Deflate makes at most 1032 bytes of one.
constexpr uint64_t kHighestRatio = 1100;

/// The little-endian integer at `at`, which must be within `bytes`.
template <typename Integer>
Integer field(std::string_view bytes, size_t at) {
  Integer value;
  std::memcpy(&value, bytes.substr(at, sizeof value).data(), sizeof value);
  return value;
}

struct ZipDirectory {
  uint64_t entries = 0, bytes = 0, offset = 0;
  uint64_t end = 0;  ///< where the records that close the file begin
};

/// Where the record that closes the file begins; it may be followed by a comment.
uint64_t end_record(const InputFile& file) {
  const auto longest = std::min<uint64_t>(file.size(), kEndOfDirectory + UINT16_MAX);
  const auto tail = file.text(file.size() - longest, longest);
  for (auto at = static_cast<int64_t>(longest - std::min(longest, kEndOfDirectory)); at >= 0;
       --at) {
    const auto record = std::string_view(tail).substr(static_cast<size_t>(at));
    if (record.size() >= kEndOfDirectory && field<uint32_t>(record, 0) == 0x06054b50 &&
        field<uint16_t>(record, 20) + kEndOfDirectory == record.size())
      return file.size() - record.size();
  }
  file.refuse("is no zip file, or truncated: it has no directory");
}

ZipDirectory find_directory(const InputFile& file) {
  ZipDirectory directory;
  directory.end = end_record(file);
  const auto end = file.text(directory.end, kEndOfDirectory);
  directory.entries = field<uint16_t>(end, 10);
  directory.bytes = field<uint32_t>(end, 12);
  directory.offset = field<uint32_t>(end, 16);
  if (directory.entries == UINT16_MAX || directory.bytes == UINT32_MAX ||
      directory.offset == UINT32_MAX) {
    constexpr uint64_t locator_bytes = 20, record_bytes = 56;
    if (directory.end < locator_bytes) file.refuse("damaged: its directory is not where it says");
    const auto locator = file.text(directory.end - locator_bytes, locator_bytes);
    if (field<uint32_t>(locator, 0) != 0x07064b50)
      file.refuse("damaged: the place of its directory is missing");
    directory.end = field<uint64_t>(locator, 8);
    const auto record = file.text(directory.end, record_bytes);
    if (field<uint32_t>(record, 0) != 0x06064b50)
      file.refuse("damaged: its directory is not where it says");
    directory.entries = field<uint64_t>(record, 32);
    directory.bytes = field<uint64_t>(record, 40);
    directory.offset = field<uint64_t>(record, 48);
  }
  if (directory.offset > directory.end || directory.bytes > directory.end - directory.offset)
    file.refuse("damaged: its directory is not where it says");
  if (directory.bytes > kLongestDirectory) file.refuse("damaged: its directory is too long");
  return directory;
}

/// Replaces the sizes and the offset that did not fit into 32 bits.
void read_zip64(std::string_view extra, ZipReader::Member& member) {
  while (extra.size() >= 4) {
    const auto id = field<uint16_t>(extra, 0);
    auto contents = extra.substr(4, field<uint16_t>(extra, 2));
    extra.remove_prefix(std::min<size_t>(extra.size(), 4 + field<uint16_t>(extra, 2)));
    if (id != 1) continue;
    for (auto* value : {&member.size, &member.packed, &member.offset}) {
      if (*value != UINT32_MAX || contents.size() < 8) continue;
      *value = field<uint64_t>(contents, 0);
      contents.remove_prefix(8);
    }
  }
}

/// Takes the first entry off `rest`: its name and what it says.
std::pair<std::string, ZipReader::Member> next_entry(const InputFile& file,
                                                     std::string_view& rest) {
  const auto take = [&](size_t bytes) {
    if (rest.size() < bytes) file.refuse("damaged: its directory is cut off");
    const auto taken = rest.substr(0, bytes);
    rest.remove_prefix(bytes);
    return taken;
  };
  const auto entry = take(kDirectoryEntry);
  if (field<uint32_t>(entry, 0) != 0x02014b50)
    file.refuse("damaged: its directory has a bad entry");
  const auto flags = field<uint16_t>(entry, 8), method = field<uint16_t>(entry, 10);
  ZipReader::Member member{field<uint32_t>(entry, 24), field<uint32_t>(entry, 20),
                           field<uint32_t>(entry, 42), 0,
                           field<uint32_t>(entry, 16), method == 8};
  const std::string name(take(field<uint16_t>(entry, 28)));
  read_zip64(take(field<uint16_t>(entry, 30)), member);
  take(field<uint16_t>(entry, 32));
  if ((flags & 0x2041) != 0) file.refuse(fmt::format("'{}' in it is encrypted", name));
  if (method != 0 && method != 8)
    file.refuse(fmt::format("'{}' in it is compressed by method {}; only deflate can be read", name,
                            method));
  return {name, member};
}

void check_size(const InputFile& file, const std::string& name, const ZipReader::Member& member) {
  const bool plausible =
      member.deflated ? member.size / kHighestRatio <= member.packed : member.size == member.packed;
  if (!plausible)
    file.refuse(fmt::format("damaged: '{}' in it cannot have {} bytes, since it takes {}", name,
                            member.size, member.packed));
}

}  // namespace

ZipReader::ZipReader(std::filesystem::path path) : file_(std::move(path)) {
  const auto directory = find_directory(file_);
  const auto text = file_.text(directory.offset, directory.bytes);
  std::vector<std::pair<uint64_t, std::string>> order;
  for (std::string_view rest = text; !rest.empty();) {
    auto [name, member] = next_entry(file_, rest);
    check_size(file_, name, member);
    order.emplace_back(member.offset, name);
    if (!members_.emplace(name, member).second)
      file_.refuse(fmt::format("damaged: '{}' is in it twice", name));
  }
  if (order.size() != directory.entries) file_.refuse("damaged: its directory is cut off");
  // Members that share bytes would turn a small file into much memory.
  std::sort(order.begin(), order.end(), std::greater<>());
  auto next = directory.offset;
  for (const auto& [offset, name] : order) {
    auto& member = members_.at(name);
    const auto room = next - std::min(next, offset);
    if (room < kLocalHeader || member.packed > room - kLocalHeader)
      file_.refuse(fmt::format("damaged: '{}' in it has no room for its bytes", name));
    member.most = next;
    next = offset;
  }
}

const ZipReader::Member& ZipReader::at(const std::string& name) const {
  const auto found = members_.find(name);
  if (found == members_.end()) file_.refuse(fmt::format("damaged: '{}' is missing in it", name));
  return found->second;
}

std::string ZipReader::text(const std::string& name, uint64_t most) const {
  if (at(name).size > most)
    file_.refuse(
        fmt::format("'{}' in it has {} bytes, expected at most {}", name, at(name).size, most));
  ZipStream stream(*this, name);
  std::string text(stream.left(), '\0');
  stream.read(text.data(), text.size());
  return text;
}

struct ZipStream::Inflater {
  Inflater() { ready = inflateInit2(&state, -MAX_WBITS) == Z_OK; }
  ~Inflater() { inflateEnd(&state); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  z_stream state{};
  bool ready = false;
  std::array<Bytef, 1 << 16> buffer;
};

ZipStream::ZipStream(const ZipReader& zip, const std::string& name)
    : file_(zip.file()), name_(name), member_(zip.at(name)) {
  const auto header = file_.text(member_.offset, kLocalHeader);
  const auto name_bytes = field<uint16_t>(header, 26), extra_bytes = field<uint16_t>(header, 28);
  offset_ = member_.offset + kLocalHeader + name_bytes + extra_bytes;
  packed_left_ = member_.packed;
  left_ = member_.size;
  if (field<uint32_t>(header, 0) != 0x04034b50 || name_bytes != name.size() ||
      offset_ > member_.most || packed_left_ > member_.most - offset_ ||
      file_.text(member_.offset + kLocalHeader, name_bytes) != name)
    file_.refuse(fmt::format("damaged: '{}' is not where its directory says", name));
  if (left_ == 0 && member_.crc != 0)
    file_.refuse(fmt::format("damaged: the checksum of '{}' is wrong", name));
  if (member_.deflated) inflater_ = std::make_unique<Inflater>();
  if (inflater_ && !inflater_->ready) throw std::bad_alloc();
}

ZipStream::~ZipStream() = default;

void ZipStream::read(void* to, uint64_t bytes) {
  if (bytes > left_)
    file_.refuse(fmt::format("truncated: '{}' in it lacks {} bytes", name_, bytes - left_));
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    auto count = std::min<uint64_t>(bytes, 1 << 20);  // so that checksums find it in the cache
    if (inflater_) {
      count = inflate_into(at, count);
    } else {
      file_.read(offset_, at, count);
      offset_ += count;
    }
    crc_ = static_cast<uint32_t>(crc32_z(crc_, reinterpret_cast<const Bytef*>(at), count));
    at += count;
    bytes -= count;
    left_ -= count;
    if (left_ == 0 && crc_ != member_.crc)
      file_.refuse(fmt::format("damaged: the checksum of '{}' is wrong", name_));
  }
}

uint64_t ZipStream::inflate_into(char* to, uint64_t bytes) {
  auto& [state, ready, buffer] = *inflater_;
  state.next_out = reinterpret_cast<Bytef*>(to);
  state.avail_out = static_cast<uInt>(bytes);
  while (state.avail_out == bytes) {
    if (state.avail_in == 0 && packed_left_ > 0) {
      const auto count = std::min<uint64_t>(packed_left_, buffer.size());
      file_.read(offset_, buffer.data(), count);
      offset_ += count;
      packed_left_ -= count;
      state.next_in = buffer.data();
      state.avail_in = static_cast<uInt>(count);
    }
    const auto code = inflate(&state, Z_NO_FLUSH);
    const bool stuck = state.avail_out == bytes && (code != Z_OK || state.avail_in > 0);
    if (stuck || (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR))
      file_.refuse(fmt::format("damaged: '{}' in it does not decompress", name_));
  }
  return bytes - state.avail_out;
}

}  // namespace imprint
