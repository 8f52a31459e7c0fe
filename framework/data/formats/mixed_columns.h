#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "framework/data/formats/table.h"

namespace imprint {

/// A column of a table of numbers and words, and what its cells are, as far as they were seen.
struct MixedColumn {
  enum class Role { feature, label, dropped };
  static constexpr size_t most_categories = 1000, most_classes = 10'000;

  std::string name;  ///< in the header, or its number from 0
  Role role = Role::feature;
  bool words = false;  ///< a cell is no number: all its cells are categories
  bool binary = true;  ///< all its numbers are 0 or 1
  double sum = 0;      ///< of its numbers
  int64_t numbers = 0;
  std::map<std::string, int64_t, std::less<>> codes;  ///< of its categories, or classes
  int64_t offset = 0;                                 ///< its first feature
  /// The first cell of each kind, as messages show it with its place; or empty.
  std::string first_missing, first_word, first_fraction;

  /// Takes notice of a cell. False: the column turned out to hold words, and cells before this one
  /// should have been counted as such.
  bool see(const TableRow& row, const TableCell& cell, bool first_record);
  /// Forgets the cells, but not that they were words.
  void start_anew();
  /// Numbers the categories in order: that of the texts, or of whole numbers for classes.
  void number_codes();

  /// What a cell is called among the codes.
  std::string code_name(std::string_view cell) const;
  /// Features of the column, once all cells were seen.
  int64_t width() const { return words ? static_cast<int64_t>(codes.size()) : 1; }

 private:
  void see_number(const TableRow& row, const TableCell& cell, double value);
  void see_category(const TableRow& row, std::string_view cell);
};

/// Empty, "?", "NA" and "nan" (in any case).
bool is_missing(std::string_view cell);

}  // namespace imprint
