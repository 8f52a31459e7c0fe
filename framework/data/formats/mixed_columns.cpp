#include "framework/data/formats/mixed_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace imprint {
namespace {

constexpr size_t kLongestCategory = 1000;

std::string shown_cell(const TableRow& row, const TableCell& cell) {
  return fmt::format("{} in line {}", excerpt(cell.text), row.line());
}

// Whole numbers as a double holds them exactly.
bool is_whole(double value) { return std::abs(value) < 9e15 && value == std::floor(value); }

}  // namespace

bool is_missing(std::string_view cell) {
  if (cell.size() > 3) return false;
  const auto is = [](char c, char lower) { return (c | 0x20) == lower; };
  return cell.empty() || cell == "?" || cell == "NA" ||
         (cell.size() == 3 && is(cell[0], 'n') && is(cell[1], 'a') && is(cell[2], 'n'));
}

bool MixedColumn::see(const TableRow& row, const TableCell& cell, bool first_record) {
  if (is_missing(cell.text)) {
    if (first_missing.empty()) first_missing = fmt::format("{}:{}", row.line(), cell.column);
    if (words && role == Role::feature) see_category(row, "");
    return true;
  }
  bool consistent = true;
  if (!words) {
    if (const auto value = number_in(cell.text)) {
      see_number(row, cell, *value);
      return true;
    }
    words = true;
    first_word = shown_cell(row, cell);
    codes.clear();
    consistent = first_record;
  }
  see_category(row, cell.text);
  return consistent;
}

void MixedColumn::see_number(const TableRow& row, const TableCell& cell, double value) {
  sum += value;
  ++numbers;
  binary = binary && (value == 0 || value == 1);
  if (role != Role::label) return;
  if (is_whole(value))
    see_category(row, fmt::format("{}", static_cast<int64_t>(value)));
  else if (first_fraction.empty())
    first_fraction = shown_cell(row, cell);
}

void MixedColumn::see_category(const TableRow& row, std::string_view cell) {
  if (codes.contains(cell)) return;
  codes.emplace(cell, 0);
  if (role == Role::label) {
    if (codes.size() > most_classes)
      row.refuse_line(
          fmt::format("column '{}' has more than {} classes up to here, expected labels",
                      printable(name), most_classes));
  } else if (codes.size() > most_categories || cell.size() > kLongestCategory) {
    const auto what = cell.size() > kLongestCategory
                          ? fmt::format("a cell of {} bytes", cell.size())
                          : fmt::format("more than {} categories up to here", most_categories);
    const auto why = first_word.empty() ? "" : fmt::format(" (its first word: {})", first_word);
    row.refuse_line(
        fmt::format("column '{0}' is categorical{1} and has {2}; leave it out with drop: [{0}]",
                    printable(name), why, what));
  }
}

void MixedColumn::start_anew() {
  binary = true;
  sum = 0;
  numbers = 0;
  codes.clear();
  first_missing.clear();
  first_fraction.clear();
}

void MixedColumn::number_codes() {
  std::vector<std::pair<int64_t, int64_t*>> order;
  for (auto& [text, code] : codes)
    order.emplace_back(words ? static_cast<int64_t>(order.size()) : std::stoll(text), &code);
  std::sort(order.begin(), order.end());
  for (size_t i = 0; i < order.size(); ++i) *order[i].second = static_cast<int64_t>(i);
}

std::string MixedColumn::code_name(std::string_view cell) const {
  if (is_missing(cell)) return "";
  if (words) return std::string(cell);
  const auto value = number_in(cell);
  return value && is_whole(*value) ? fmt::format("{}", static_cast<int64_t>(*value)) : "";
}

}  // namespace imprint
