#include "framework/data/formats/binary_table.h"

#include <fmt/format.h>

#include <cmath>

#include "framework/data/formats/archive.h"
#include "framework/data/formats/idx.h"
#include "framework/data/formats/table.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostBytesOfBits = size_t{1} << 34;

struct BitRows {
  std::vector<uint8_t> bits;
  std::vector<int64_t> labels;
};

// The class in the row's next cell, from 0.
int64_t label_in(TableRow& row, int64_t classes) {
  if (!row.next()) row.refuse_line("has no label");
  const auto value = number_in(row.cell().text);
  if (!value || (std::isfinite(*value) && *value != std::floor(*value)))
    row.refuse(fmt::format("{} is no label, expected 1..{}", excerpt(row.cell().text), classes));
  if (*value < 1 || *value > static_cast<double>(classes))
    row.refuse(fmt::format("label {} is outside 1..{}", printable(row.cell().text), classes));
  return static_cast<int64_t>(*value) - 1;
}

std::vector<int64_t> read_label_lines(ByteSource& source, int64_t classes) {
  std::vector<int64_t> labels;
  TableReader reader(source);
  while (auto* row = reader.next()) {
    labels.push_back(label_in(*row, classes));
    if (row->next()) row->refuse("has a second cell, expected one label per line");
  }
  return labels;
}

BitRows read_bit_rows(ByteSource& source, const BinaryTable& table) {
  BitRows rows;
  const auto bytes = static_cast<size_t>(table.features + 7) / 8;
  TableReader reader(source);
  while (auto* row = reader.next()) {
    if (table.labels.empty()) rows.labels.push_back(label_in(*row, table.classes));
    rows.bits.resize(rows.bits.size() + bytes);
    auto count = row->pack(rows.bits.data() + rows.bits.size() - bytes, table.features);
    while (row->next()) ++count;
    if (count != table.features)
      row->refuse_line(fmt::format("has {} features, expected {}", count, table.features));
    if (rows.bits.size() > kMostBytesOfBits) row->refuse_line("is beyond 16 GiB of features");
  }
  if (rows.bits.empty()) source.refuse("holds no records");
  return rows;
}

// One pass over the archive, whatever the order of its members.
BitRows read_archived_rows(const fs::path& file, const BinaryTable& table) {
  std::optional<BitRows> rows;
  std::optional<std::vector<int64_t>> labels;
  ArchiveReader archive(file);
  while (archive.next()) {
    if (archive.member().kind != Member::Kind::file) continue;
    const auto& name = archive.member().name;
    if (!rows && is_member(name, table.records)) {
      rows = read_bit_rows(archive.contents(), table);
    } else if (!labels && !table.labels.empty() && is_member(name, table.labels)) {
      labels = read_label_lines(archive.contents(), table.classes);
    }
  }
  const auto demand = [&](bool found, const std::string& member) {
    if (!found) throw ConfigError(fmt::format("{}: has no member '{}'", file.string(), member));
  };
  demand(rows.has_value(), table.records);
  if (table.labels.empty()) return *std::move(rows);
  demand(labels.has_value(), table.labels);
  rows->labels = *std::move(labels);
  return *std::move(rows);
}

BitRows read_rows_of(const std::vector<fs::path>& files, const BinaryTable& table) {
  if (is_archive_name(files[0])) return read_archived_rows(files[0], table);
  auto rows = read_bit_rows(*open_file(files[0]), table);
  if (files.size() > 1) rows.labels = read_label_lines(*open_file(files[1]), table.classes);
  return rows;
}

// A tensor that owns the vector.
template <class T>
Tensor owning_tensor(std::vector<T> values, torch::IntArrayRef shape) {
  auto owner = std::make_shared<std::vector<T>>(std::move(values));
  return torch::from_blob(
      owner->data(), shape, [owner](void*) {}, c10::CppTypeToScalarType<T>::value);
}

// `inner` and what is left of it without its outer folders, one after the other.
std::vector<fs::path> ends_of(const fs::path& inner) {
  std::vector<fs::path> ends;
  for (auto from = inner.begin(); from != inner.end(); ++from) {
    fs::path end;
    for (auto part = from; part != inner.end(); ++part) end /= *part;
    ends.push_back(end);
  }
  return ends;
}

bool is_plain_file(const fs::path& path) {
  std::error_code unreadable;
  return fs::exists(path, unreadable) && !fs::is_directory(path, unreadable);
}

// The table at `records`, with its labels beside it; nothing when one of them is not there.
std::vector<fs::path> table_at(const fs::path& records, const BinaryTable& table) {
  if (!is_plain_file(records)) return {};
  if (table.labels.empty() || is_archive_name(records)) return {records};
  const auto labels = records.parent_path() / fs::path(table.labels).filename();
  return is_plain_file(labels) ? std::vector{records, labels} : std::vector<fs::path>{};
}

}  // namespace

std::vector<fs::path> binary_table_files(const BinaryTable& table, const std::string& path) {
  std::vector<std::string> tried;
  for (const auto& place :
       data_folders(path, table.name, {fs::path("data") / table.name, "data"})) {
    tried.push_back(place.string());
    std::vector<fs::path> candidates{place};
    for (const auto& end : ends_of(table.records)) candidates.push_back(place / end);
    candidates.push_back(place / table.archive);
    for (const auto& candidate : candidates)
      if (auto files = table_at(candidate, table); !files.empty()) return files;
  }
  const auto apart = table.labels.empty()
                         ? ""
                         : fmt::format(" with {}", fs::path(table.labels).filename().string());
  throw ConfigError(fmt::format(
      "{}: neither {} nor {}{} is there; looked in {}. Get them with: imprint data get {}",
      table.name, table.archive, table.records, apart, joined(tried), table.name));
}

BinaryTableSource::BinaryTableSource(Keys& keys, BinaryTable table)
    : table_(std::move(table)),
      path_(keys.path("path", "")
                .doc(fmt::format("{}, {} or the folder of either; empty: the usual places",
                                 table_.archive, table_.records))) {}

std::vector<fs::path> BinaryTableSource::files() const { return binary_table_files(table_, path_); }

Dataset BinaryTableSource::load() const { return read_binary_table(table_, path_); }

Dataset read_binary_table(const BinaryTable& table, const std::string& path) {
  const auto files = binary_table_files(table, path);
  auto rows = read_rows_of(files, table);
  const auto n = static_cast<int64_t>(rows.labels.size()), bytes = (table.features + 7) / 8;
  const auto records = static_cast<int64_t>(rows.bits.size()) / bytes;
  if (n != records)
    throw ConfigError(
        fmt::format("{}: {} labels for {} records", files.back().string(), n, records));
  return {Records::bits(owning_tensor(std::move(rows.bits), {n, bytes}), table.features),
          owning_tensor(std::move(rows.labels), {n}), table.classes};
}

}  // namespace imprint
