#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "framework/data/dataset.h"

namespace imprint {

/// How to read a table of numbers and words, one record per line. Columns are called by their name
/// in the header or their number from 0.
///
/// A column with a cell that is no number is categorical: one binary feature per category, in the
/// order of the texts. Missing cells (empty, ?, NA, nan) are a category of their own in such a
/// column; in others, `missing` says what becomes of them. Labels are words, or whole numbers;
/// classes are numbered in their order. Records are bits when all features are binary, else
/// float32.
struct MixedTable {
  std::filesystem::path file;      ///< gzip or not
  std::string label;               ///< a column; empty: the last
  std::string header = "auto";     ///< yes, no; auto: yes if, in some column, a word stands in the
                                   ///< first line and a number in the second
  std::string delimiter = "auto";  ///< "," ";" tab; auto: the most frequent in the first line
  std::string missing = "refuse";  ///< or: mean (of the column), zero, drop_record
  std::vector<std::string> categorical;  ///< columns that are, though all cells are numbers
  std::vector<std::string> drop;         ///< columns that are left out
};

/// Reads the file twice, or three times when a categorical column starts with numbers; holds no
/// more of it than the records. Throws ConfigError with the place of what is wrong.
Dataset read_mixed_table(const MixedTable& table);

}  // namespace imprint
