#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "framework/data/formats/bytes.h"

namespace imprint {

/// The number that a whole cell is: "3", "-0.5", "+1e3". Infinite when it is beyond a double;
/// nothing for other text, among it "inf", "nan" and hexadecimal digits.
std::optional<double> number_in(std::string_view cell);

/// One cell, without its quotes, or else without the blanks round it.
struct TableCell {
  std::string_view text;
  int64_t column = 0;  ///< where it starts in its line, in bytes from 1
};

/// One line of a delimited table: a walk over its cells. A cell in double quotes may hold the
/// delimiter, and quotes written twice, but not the end of the line.
class TableRow {
 public:
  /// Moves to the next cell; false after the last.
  bool next();
  /// The current cell, valid as long as the row.
  const TableCell& cell() const { return cell_; }
  /// Packs the next cells, up to `count`, which must all be 0 or 1: eight to a byte, the lowest bit
  /// first, into zeros at `to`. Says how many there were.
  int64_t pack(uint8_t* to, int64_t count);

  int64_t line() const { return line_; }
  /// Throws ConfigError "<file>:<line>:<column>: <why>", or without the column.
  [[noreturn]] void refuse(const std::string& why) const { refuse(cell_, why); }
  [[noreturn]] void refuse(const TableCell& cell, const std::string& why) const;
  [[noreturn]] void refuse_line(const std::string& why) const;

 private:
  friend class TableReader;
  void start(std::string_view text, int64_t line);
  bool next_quoted(const char* open);
  int64_t pack_eights(uint8_t* to, int64_t count);

  std::string file_;
  char delimiter_ = ',';
  int64_t line_ = 0;
  const char *begin_ = nullptr, *at_ = nullptr, *end_ = nullptr;  ///< at_ null: after the last cell
  TableCell cell_;
  std::deque<std::string> unquoted_;  ///< cells that do not stand in the line as they are
};

/// The rows of a delimited table, read once, in memory that does not grow with their number. Blank
/// lines are allowed at the end only.
class TableReader {
 public:
  /// `source` must outlive the reader.
  explicit TableReader(ByteSource& source, char delimiter = ',');

  /// The next row, valid until the next call; null at the end.
  TableRow* next();

 private:
  LineReader lines_;
  TableRow row_;
};

}  // namespace imprint
