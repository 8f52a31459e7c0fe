#include "framework/data/npz.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <initializer_list>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace imprint {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "npy_dtype names little-endian types");

// Every entry has ZIP64 sizes: then large files need no path of their own. NumPy does the same.
constexpr uint16_t kVersion = 45;  // of the zip format, the first with ZIP64
constexpr uint16_t kUtf8Names = 0x0800;
constexpr uint16_t kStored = 0;
constexpr uint16_t kMidnight = 0, kFirstOfJanuary1980 = 0x0021;
constexpr uint16_t kZip64Extra = 1;
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

std::string local_header(const std::string& name, uint32_t crc, uint64_t bytes) {
  const auto extra = packed(kZip64Extra, uint16_t{16}, bytes, bytes);
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

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text;
  for (const auto size : shape) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return shape.size() == 1 ? "(" + text + ",)" : "(" + text + ")";
}

/// The .npy header of format 1.0, padded so that the data begin at a multiple of 64.
std::string npy_header(std::string_view dtype, const std::vector<int64_t>& shape) {
  auto dictionary = "{'descr': '" + std::string(dtype) +
                    "', 'fortran_order': False, 'shape': " + shape_text(shape) + ", }";
  const size_t before = 10, newline = 1;
  dictionary.append(63 - (before + dictionary.size() + newline + 63) % 64, ' ');
  dictionary += '\n';
  return "\x93NUMPY" + packed(uint8_t{1}, uint8_t{0}, length16(dictionary)) + dictionary;
}

/// Bytes of one element of "<f8", "|S16" and the like; 0 if it is none.
size_t element_bytes(std::string_view dtype) {
  if (dtype.size() < 3 || std::string_view("<>|").find(dtype[0]) == std::string_view::npos ||
      std::string_view("biufcS").find(dtype[1]) == std::string_view::npos) {
    return 0;
  }
  size_t bytes = 0;
  const auto* end = dtype.data() + dtype.size();
  return std::from_chars(dtype.data() + 2, end, bytes).ptr == end ? bytes : 0;
}

/// Empty, or what is wrong with the array.
std::string complaint(std::string_view dtype, const std::vector<int64_t>& shape, size_t bytes) {
  auto expected = element_bytes(dtype);
  if (expected == 0) return "has an unknown dtype: " + std::string(dtype);
  for (const auto size : shape) {
    if (size < 0) return "has a negative size in its shape " + shape_text(shape);
    expected *= static_cast<size_t>(size);
  }
  if (expected == bytes) return {};
  return "has " + std::to_string(bytes) + " bytes, but its shape " + shape_text(shape) + " of " +
         std::string(dtype) + " needs " + std::to_string(expected);
}

uint32_t checksum(std::string_view header, const void* data, size_t bytes) {
  auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(header.data()), header.size());
  // zlib takes a null pointer, which an empty vector has, as the wish to start anew.
  if (bytes > 0) crc = crc32_z(crc, static_cast<const Bytef*>(data), bytes);
  return static_cast<uint32_t>(crc);
}

}  // namespace

NpzWriter::NpzWriter(fs::path target)
    : target_(std::move(target)), temporary_(target_.string() + ".tmp" + std::to_string(getpid())) {
  fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd_ < 0) fail("create", errno);
}

NpzWriter::~NpzWriter() { discard(); }

void NpzWriter::add(std::string_view name, std::string_view dtype,
                    const std::vector<int64_t>& shape, const void* data, size_t bytes) {
  require_open();
  const auto refuse = [&](const std::string& why) {
    throw std::runtime_error("array " + std::string(name) + " of " + target_.string() + " " + why);
  };
  const auto file = std::string(name) + ".npy";
  const auto same = [&](const Entry& entry) { return entry.name == file; };
  if (std::any_of(entries_.begin(), entries_.end(), same)) refuse("is added twice");
  if (const auto wrong = complaint(dtype, shape, bytes); !wrong.empty()) refuse(wrong);

  const auto header = npy_header(dtype, shape);
  const Entry entry{file, checksum(header, data, bytes), header.size() + bytes, offset_};
  const auto start = local_header(entry.name, entry.crc, entry.bytes) + header;
  write(start.data(), start.size());
  write(data, bytes);
  entries_.push_back(entry);
}

void NpzWriter::close() {
  require_open();
  std::string directory;
  for (const auto& [name, crc, bytes, offset] : entries_) {
    directory += directory_entry(name, crc, bytes, offset);
  }
  directory += end_of_directory(entries_.size(), directory.size(), offset_);
  write(directory.data(), directory.size());
  publish();
}

void NpzWriter::require_open() const {
  if (fd_ < 0) throw std::runtime_error(target_.string() + " is closed already");
}

void NpzWriter::write(const void* data, size_t bytes) {
  const auto* rest = static_cast<const char*>(data);
  offset_ += bytes;
  while (bytes > 0) {
    const auto count = ::write(fd_, rest, bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("write", errno);
    rest += count;
    bytes -= static_cast<size_t>(count);
  }
}

void NpzWriter::publish() {
  if (::fsync(fd_) != 0) fail("write", errno);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("create", errno);
  ::close(std::exchange(fd_, -1));

  // The new name survives a power cut only once the folder is on disk, too.
  const auto folder = target_.has_parent_path() ? target_.parent_path() : fs::path(".");
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

void NpzWriter::discard() noexcept {
  if (fd_ < 0) return;
  ::close(std::exchange(fd_, -1));
  ::unlink(temporary_.c_str());
}

void NpzWriter::fail(const std::string& what, int error) {
  discard();
  throw std::runtime_error("cannot " + what + " " + target_.string() + ": " +
                           std::system_category().message(error));
}

}  // namespace imprint
