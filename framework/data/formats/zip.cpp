#include "framework/data/formats/zip.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace imprint {
namespace {

static_assert(std::endian::native == std::endian::little, "zip files are little-endian");

// Every entry has ZIP64 sizes: then large files need no path of their own. NumPy does the same.
constexpr uint16_t kVersion = 45;  // of the zip format, the first with ZIP64
constexpr uint16_t kUtf8Names = 0x0800;
constexpr uint16_t kStored = 0;
constexpr uint16_t kMidnight = 0, kFirstOfJanuary1980 = 0x0021;
constexpr uint16_t kZip64Extra = 1;
constexpr uint16_t kPaddingExtra = 0x4246;  // as PyTorch names it
constexpr uint16_t kSee64Bit16 = 0xFFFF;
constexpr uint32_t kSee64Bit32 = 0xFFFFFFFF;

/// The unsigned integers one after the other, little-endian, each in the size of its type.
template <typename... Integers>
std::string packed(Integers... values) {
  std::string out;
  (out.append(reinterpret_cast<const char*>(&values), sizeof values), ...);
  return out;
}

uint16_t length16(std::string_view text) { return static_cast<uint16_t>(text.size()); }

/// An extra field after which the data of a local header of `before` bytes are aligned.
std::string padding(uint64_t before, uint64_t alignment) {
  if (alignment <= 1) return {};
  const auto rest = (before + 4) % alignment;
  const auto length = static_cast<uint16_t>(rest == 0 ? 0 : alignment - rest);
  return packed(kPaddingExtra, length) + std::string(length, 'Z');
}

std::string local_header(const std::string& name, uint32_t crc, uint64_t bytes, uint64_t offset,
                         uint64_t alignment) {
  auto extra = packed(kZip64Extra, uint16_t{16}, bytes, bytes);
  extra += padding(offset + 30 + name.size() + extra.size(), alignment);
  return packed(uint32_t{0x04034b50}, kVersion, kUtf8Names, kStored, kMidnight, kFirstOfJanuary1980,
                crc, kSee64Bit32, kSee64Bit32, length16(name), length16(extra)) +
         name + extra;
}

std::string directory_entry(const std::string& name, uint32_t crc, uint64_t bytes,
                            uint64_t offset) {
  const auto extra = packed(kZip64Extra, uint16_t{24}, bytes, bytes, offset);
  const uint16_t comment = 0, disk = 0, internal_attributes = 0;
  const uint32_t external_attributes = 0;
  return packed(uint32_t{0x02014b50}, kVersion, kVersion, kUtf8Names, kStored, kMidnight,
                kFirstOfJanuary1980, crc, kSee64Bit32, kSee64Bit32, length16(name), length16(extra),
                comment, disk, internal_attributes, external_attributes, kSee64Bit32) +
         name + extra;
}

std::string end_of_directory(uint64_t entries, uint64_t bytes, uint64_t offset) {
  const uint32_t signature = 0x06054b50, signature64 = 0x06064b50, locator64 = 0x07064b50;
  const uint16_t disk16 = 0, comment = 0;
  const uint32_t disk = 0, disks = 1;
  const uint64_t rest_of_record = 44;
  // NumPy knows an empty zip by this record at its very start.
  if (entries == 0) return packed(signature) + std::string(18, '\0');
  return packed(signature64, rest_of_record, kVersion, kVersion, disk, disk, entries, entries,
                bytes, offset) +
         packed(locator64, disk, offset + bytes, disks) +
         packed(signature, disk16, disk16, kSee64Bit16, kSee64Bit16, kSee64Bit32, kSee64Bit32,
                comment);
}

}  // namespace

bool ZipWriter::has(std::string_view name) const {
  const auto same = [&](const Entry& entry) { return entry.name == name; };
  return std::any_of(entries_.begin(), entries_.end(), same);
}

void ZipWriter::add(const std::string& name, std::initializer_list<std::string_view> pieces,
                    uint64_t alignment) {
  if (name.size() > UINT16_MAX)
    throw std::runtime_error("a name within " + target().string() +
                             " is too long: " + std::to_string(name.size()) + " bytes");
  Entry entry{name, 0, 0, file_.offset()};
  for (const auto piece : pieces) {
    // zlib takes a null pointer, which an empty view may have, as the wish to start anew.
    if (piece.empty()) continue;
    entry.crc = static_cast<uint32_t>(
        crc32_z(entry.crc, reinterpret_cast<const Bytef*>(piece.data()), piece.size()));
    entry.bytes += piece.size();
  }
  file_.write(local_header(name, entry.crc, entry.bytes, entry.offset, alignment));
  for (const auto piece : pieces) file_.write(piece);
  entries_.push_back(entry);
}

void ZipWriter::close() {
  std::string directory;
  for (const auto& [name, crc, bytes, offset] : entries_)
    directory += directory_entry(name, crc, bytes, offset);
  directory += end_of_directory(entries_.size(), directory.size(), file_.offset());
  file_.write(directory);
  file_.publish();
}

}  // namespace imprint
