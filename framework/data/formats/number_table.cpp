#include "framework/data/formats/number_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "framework/data/formats/table.h"

namespace imprint {
namespace {

// As Python and NumPy write what is not finite.
std::optional<double> not_finite(std::string_view cell) {
  const bool negative = cell.starts_with('-');
  if (negative || cell.starts_with('+')) cell.remove_prefix(1);
  std::string word(cell);
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return c < 128 ? std::tolower(c) : c; });
  if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (word != "inf" && word != "infinity") return std::nullopt;
  return negative ? -std::numeric_limits<double>::infinity()
                  : std::numeric_limits<double>::infinity();
}

double number_of(const TableRow& row) {
  const auto text = row.cell().text;
  const auto finite = number_in(text);
  if (finite) return *finite;
  const auto other = not_finite(text);
  if (!other) row.refuse(fmt::format("{} is no number", excerpt(text)));
  return *other;
}

}  // namespace

std::vector<std::string> read_number_names(const std::filesystem::path& file) {
  const auto source = open_file(file);
  TableReader reader(*source);
  auto* row = reader.next();
  if (row == nullptr) source->refuse("is empty; the first line must name the columns");
  std::vector<std::string> names;
  while (row->next()) names.emplace_back(row->cell().text);
  return names;
}

Tensor read_number_table(const std::filesystem::path& file) {
  const auto width = read_number_names(file).size();
  const auto source = open_file(file);
  TableReader reader(*source);
  reader.next();
  std::vector<double> values;
  while (auto* row = reader.next()) {
    const auto before = values.size();
    while (row->next()) values.push_back(number_of(*row));
    if (values.size() - before != width)
      row->refuse_line(
          fmt::format("has {} cells, the header names {} columns", values.size() - before, width));
  }
  if (values.empty()) source->refuse("holds no records, only names of columns");
  const auto records = static_cast<int64_t>(values.size() / width);
  return torch::tensor(values, torch::kDouble).view({records, -1});
}

Mark number_mark(const std::filesystem::path& file, int64_t record, int64_t column) {
  const auto source = open_file(file);
  TableReader reader(*source);
  auto* row = reader.next();
  for (; row != nullptr && record >= 0; --record) row = reader.next();
  for (; row != nullptr && column >= 0; --column) row->next();
  if (row == nullptr) return {file.string(), 0, 0};
  return {file.string(), static_cast<int>(row->line()), static_cast<int>(row->cell().column)};
}

}  // namespace imprint
