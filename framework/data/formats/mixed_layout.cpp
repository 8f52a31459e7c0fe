#include "framework/data/formats/mixed_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace imprint {
namespace {

using MixedRole = MixedColumn::Role;

constexpr size_t kMostColumns = 100'000;
constexpr size_t kMostCategoriesInAll = 1'000'000;
constexpr int64_t kMostMixedBytes = int64_t{1} << 34;

char delimiter_of(const MixedTable& table) {
  if (table.delimiter == "tab") return '\t';
  if (table.delimiter != "auto") return table.delimiter[0];
  const auto source = open_file(table.file);
  LineReader lines(*source);
  constexpr std::string_view delimiters = ",;\t";
  std::array<int64_t, delimiters.size()> counts{};
  bool quoted = false;
  for (const char c : lines.next().value_or("")) {
    if (c == '"') quoted = !quoted;
    const auto which = delimiters.find(c);
    if (!quoted && which != std::string_view::npos) ++counts.at(which);
  }
  const auto most = std::max_element(counts.begin(), counts.end()) - counts.begin();
  return delimiters[static_cast<size_t>(most)];
}

bool has_header(const MixedTable& table, const std::vector<std::vector<std::string>>& rows) {
  if (table.header != "auto" || rows.size() < 2) return table.header == "yes";
  for (size_t i = 0; i < std::min(rows[0].size(), rows[1].size()); ++i)
    if (!is_missing(rows[0][i]) && !number_in(rows[0][i]) && number_in(rows[1][i])) return true;
  return false;
}

}  // namespace

MixedLayout::MixedLayout(const MixedTable& table) : table_(table), delimiter_(delimiter_of(table)) {
  name_columns();
  if (!survey()) survey();
  lay_out();
}

void MixedLayout::refuse(const std::string& why, const std::string& place) const {
  throw ConfigError(
      fmt::format("{}{}{}: {}", table_.file.string(), place.empty() ? "" : ":", place, why));
}

std::vector<std::vector<std::string>> MixedLayout::first_rows() const {
  const auto source = open_file(table_.file);
  TableReader reader(*source, delimiter_);
  std::vector<std::vector<std::string>> rows;
  for (TableRow* row = nullptr; rows.size() < 2 && (row = reader.next()) != nullptr;) {
    auto& cells = rows.emplace_back();
    while (row->next() && cells.size() <= kMostColumns) cells.emplace_back(row->cell().text);
    if (cells.size() > kMostColumns)
      row->refuse_line(fmt::format("has more than {} cells", kMostColumns));
  }
  if (rows.empty()) refuse("holds no records");
  return rows;
}

MixedColumn& MixedLayout::column_called(const std::string& word) {
  const auto called = [&](const MixedColumn& column) { return column.name == word; };
  const auto found = std::count_if(columns_.begin(), columns_.end(), called);
  if (found == 1) return *std::find_if(columns_.begin(), columns_.end(), called);
  if (found > 1)
    refuse(fmt::format("has {} columns called {}; use a number from 0 to {}", found, excerpt(word),
                       columns_.size() - 1));
  size_t number = 0;
  const auto* end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data(), end, number);
  if (error == std::errc() && rest == end && number < columns_.size()) return columns_[number];
  std::vector<std::string> names;
  for (size_t i = 0; i < columns_.size() && i < 1000; ++i)
    names.push_back(printable(columns_[i].name));
  const auto near = did_you_mean(printable(word), names);
  if (names.size() > 20) {
    names.resize(20);
    names.emplace_back("...");
  }
  refuse(fmt::format("has no column {}{} (columns: {})", excerpt(word), near, joined(names)));
}

void MixedLayout::name_columns() {
  const auto rows = first_rows();
  header_ = has_header(table_, rows);
  columns_.resize(rows[0].size());
  for (size_t i = 0; i < rows[0].size(); ++i)
    columns_[i].name = header_ ? rows[0][i] : std::to_string(i);
  auto& label = table_.label.empty() ? columns_.back() : column_called(table_.label);
  label.role = MixedRole::label;
  for (const auto& word : table_.categorical) column_called(word).words = true;
  for (const auto& word : table_.drop) {
    auto& column = column_called(word);
    if (column.role == MixedRole::label)
      refuse(fmt::format("column {} is the label and cannot be dropped", excerpt(word)));
    column.role = MixedRole::dropped;
  }
}

bool MixedLayout::lacks_something(const MixedCells& cells) const {
  for (size_t i = 0; i < cells.size(); ++i)
    if (columns_[i].role != MixedRole::dropped && is_missing(cells[i].text)) return true;
  return false;
}

void MixedLayout::walk(const std::function<void(const TableRow&, const MixedCells&)>& use) const {
  const auto source = open_file(table_.file);
  TableReader reader(*source, delimiter_);
  if (header_) reader.next();
  const bool drop = table_.missing == "drop_record";
  MixedCells cells;
  while (auto* row = reader.next()) {
    cells.clear();
    while (row->next()) cells.push_back(row->cell());
    if (cells.size() != columns_.size())
      row->refuse_line(
          fmt::format("has {} cells, expected {} as in line 1", cells.size(), columns_.size()));
    if (!drop || !lacks_something(cells)) use(*row, cells);
  }
}

// Learns what the columns hold. False: a column turned out to be categorical too late, look again.
bool MixedLayout::survey() {
  records_ = 0;
  for (auto& column : columns_) column.start_anew();
  bool complete = true;
  walk([&](const TableRow& row, const MixedCells& cells) {
    size_t categories = 0;
    for (size_t i = 0; i < cells.size(); ++i) {
      auto& column = columns_[i];
      if (column.role == MixedRole::dropped) continue;
      complete = column.see(row, cells[i], records_ == 0) && complete;
      categories += column.codes.size();
    }
    if (categories > kMostCategoriesInAll)
      row.refuse_line(fmt::format("the columns have more than {} categories in all up to here",
                                  kMostCategoriesInAll));
    ++records_;
  });
  return complete;
}

void MixedLayout::check_label(const MixedColumn& label) const {
  if (!label.first_missing.empty())
    refuse("the label is missing; missing: drop_record leaves such records out",
           label.first_missing);
  if (!label.words && !label.first_fraction.empty())
    refuse(
        fmt::format("label {} is neither a word nor a whole number; values to be predicted "
                    "(regression) are no classes",
                    label.first_fraction));
  if (label.codes.size() < 2)
    refuse(fmt::format("all records have the same label in column '{}'", printable(label.name)));
}

void MixedLayout::check_feature(const MixedColumn& column) const {
  if (column.words || column.first_missing.empty()) return;
  const auto name = printable(column.name);
  if (table_.missing == "refuse")
    refuse(fmt::format("a number of column '{}' is missing; choose missing: mean, zero or "
                       "drop_record",
                       name),
           column.first_missing);
  if (column.numbers == 0)
    refuse(fmt::format("column '{0}' holds nothing; leave it out with drop: [{0}]", name));
}

// Gives every column its features.
void MixedLayout::lay_out() {
  if (records_ == 0) refuse("holds no records");
  const MixedColumn* widest = nullptr;
  for (auto& column : columns_) {
    if (column.role == MixedRole::dropped) continue;
    column.number_codes();
    if (column.role == MixedRole::label) {
      check_label(column);
      classes_ = static_cast<int64_t>(column.codes.size());
      continue;
    }
    check_feature(column);
    column.offset = features_;
    features_ += column.width();
    if (widest == nullptr || column.width() > widest->width()) widest = &column;
  }
  if (widest == nullptr) refuse("has no features: a column beside the label is needed");
  if (records_ > kMostMixedBytes / 4 / features_)
    refuse(
        fmt::format("{} records of {} features are beyond 16 GiB; the widest column, '{}', "
                    "makes {} of them",
                    records_, features_, printable(widest->name), widest->width()));
}

bool MixedLayout::binary() const {
  return std::all_of(columns_.begin(), columns_.end(), [&](const MixedColumn& column) {
    const bool mean = table_.missing == "mean" && !column.first_missing.empty();
    return column.role != MixedRole::feature || column.words || (column.binary && !mean);
  });
}

}  // namespace imprint
