#include "framework/data/fetching/verify.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <unordered_map>

#include "framework/config/digest.h"
#include "framework/data/fetching/md5.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_to_digest(const fs::path& file, const std::string& why) {
  throw ConfigError(fmt::format("{}: {}", file.string(), why));
}

template <class Take>
void read_unzipped(const fs::path& file, std::vector<char>& room, const Take& take) {
  const std::unique_ptr<gzFile_s, decltype(&gzclose)> stream(gzopen(file.c_str(), "rb"), gzclose);
  if (stream == nullptr)
    refuse_to_digest(file, fmt::format("cannot be read: {}", std::strerror(errno)));
  int got = 0;
  while ((got = gzread(stream.get(), room.data(), static_cast<unsigned>(room.size()))) > 0)
    take(room.data(), static_cast<size_t>(got));
  int code = Z_OK;
  const std::string words = gzerror(stream.get(), &code);
  if (code == Z_BUF_ERROR) refuse_to_digest(file, "damaged: its gzip stream ends too early");
  if (code != Z_OK) refuse_to_digest(file, "damaged: " + words);
}

template <class Take>
void read_as_is(const fs::path& file, std::vector<char>& room, const Take& take) {
  std::ifstream stream(file, std::ios::binary);
  while (stream) {
    stream.read(room.data(), static_cast<std::streamsize>(room.size()));
    take(room.data(), static_cast<size_t>(stream.gcount()));
  }
  if (!stream.eof())
    refuse_to_digest(file, fmt::format("cannot be read: {}", std::strerror(errno)));
}

template <class Digest>
std::string digest_of(const fs::path& file, bool unzipped) {
  Digest digest;
  std::vector<char> room(1 << 20);
  const auto take = [&](const char* data, size_t bytes) { digest.add(data, bytes); };
  if (unzipped) {
    read_unzipped(file, room, take);
  } else {
    read_as_is(file, room, take);
  }
  return digest.hex();
}

// The digest that a file must have, and whether it is that of the decompressed contents.
struct Listed {
  std::string digest;
  bool unzipped = false;
};

std::optional<Listed> listed(const Origin& origin, const fs::path& file) {
  const auto name = file.filename().string();
  for (const auto& known : origin.files)
    if (name == known.name || name == known.name + ".gz")
      return Listed{known.digest, name != known.name};
  for (const auto& download : origin.downloads)
    if (name == download.name && !download.unpack) return Listed{download.digest, false};
  return std::nullopt;
}

// How often the same values occur, and under how many labels.
struct Occurrences {
  int64_t training = 0, test = 0, label = 0;
  bool contradicting = false;
};

using OccurrencesByRow = std::unordered_map<std::string, Occurrences>;

void count_rows(const Dataset& data, int64_t from, int64_t to, int64_t training,
                OccurrencesByRow& rows) {
  const auto values = data.x.rows(from, to).contiguous();
  const auto labels = data.y.slice(0, from, to).contiguous();
  const auto bytes = static_cast<size_t>(values.nbytes()) / static_cast<size_t>(to - from);
  const auto* row = static_cast<const char*>(values.const_data_ptr());
  for (int64_t i = from; i < to; ++i, row += bytes) {
    const auto label = labels.const_data_ptr<int64_t>()[i - from];
    auto& same = rows[Sha256().add(row, bytes).hex().substr(0, 32)];
    if (same.training + same.test == 0) same.label = label;
    same.contradicting = same.contradicting || same.label != label;
    ++(i < training ? same.training : same.test);
  }
}

void count_values(const Tensor& values, Census& census) {
  auto finite = values;
  if (values.is_floating_point()) {
    finite = values.masked_select(values.isfinite());
    census.not_finite += values.numel() - finite.numel();
  }
  if (finite.numel() == 0) return;
  census.lowest = std::min(census.lowest, finite.min().item<double>());
  census.highest = std::max(census.highest, finite.max().item<double>());
}

}  // namespace

std::string file_digest(const fs::path& file, const std::string& like, bool unzipped) {
  if (std::error_code error; !fs::is_regular_file(file, error))
    refuse_to_digest(file, "is not there, or no file");
  if (like.starts_with("sha256:")) return "sha256:" + digest_of<Sha256>(file, unzipped);
  TORCH_CHECK(like.starts_with("md5:"), "a digest starts with sha256: or md5:, not ", like);
  return "md5:" + digest_of<Md5>(file, unzipped);
}

std::string FileCheck::words() const {
  return fmt::format("expected {}, found {}", expected, found);
}

bool is_listed(const Origin& origin, const fs::path& file) {
  return listed(origin, file).has_value();
}

FileCheck check_file(const Origin& origin, const fs::path& file) {
  const auto known = listed(origin, file);
  if (!known || known->digest.empty()) return {file, "", ""};
  return {file, known->digest, file_digest(file, known->digest, known->unzipped)};
}

Census take_census(const Dataset& data, int64_t training) {
  Census census;
  census.lowest = std::numeric_limits<double>::infinity();
  census.highest = -census.lowest;
  const auto counts = data.y.bincount({}, data.classes).contiguous();
  census.per_class.assign(counts.const_data_ptr<int64_t>(),
                          counts.const_data_ptr<int64_t>() + counts.numel());
  OccurrencesByRow rows;
  constexpr int64_t chunk = 4096;
  for (int64_t from = 0; from < data.size(); from += chunk) {
    const auto to = std::min(from + chunk, data.size());
    count_values(data.x.rows(from, to), census);
    count_rows(data, from, to, training == 0 ? data.size() : training, rows);
  }
  for (const auto& [row, same] : rows) {
    if (same.training > 1) census.repeated_in_training += same.training;
    if (same.test > 1) census.repeated_in_test += same.test;
    if (same.training > 0) census.test_in_training += same.test;
    if (same.contradicting) census.contradicting += same.training + same.test;
  }
  return census;
}

}  // namespace imprint
