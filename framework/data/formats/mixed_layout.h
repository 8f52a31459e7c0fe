#pragma once

#include <functional>
#include <string>
#include <vector>

#include "framework/data/formats/mixed_columns.h"
#include "framework/data/formats/mixed_table.h"

namespace imprint {

using MixedCells = std::vector<TableCell>;

/// A table of numbers and words before its records are made: what its columns hold, and which
/// features they become. The table must outlive it.
class MixedLayout {
 public:
  /// Looks at the whole file. Throws ConfigError with the place of what is wrong.
  explicit MixedLayout(const MixedTable& table);

  const MixedTable& table() const { return table_; }
  const std::vector<MixedColumn>& columns() const { return columns_; }
  int64_t records() const { return records_; }
  int64_t features() const { return features_; }
  int64_t classes() const { return classes_; }
  /// Whether every feature is 0 or 1.
  bool binary() const;

  /// One pass over the records that are kept, each with one cell per column.
  void walk(const std::function<void(const TableRow&, const MixedCells&)>& use) const;
  /// Throws ConfigError "<file>: <why>", with the place behind the file if there is one.
  [[noreturn]] void refuse(const std::string& why, const std::string& place = "") const;

 private:
  std::vector<std::vector<std::string>> first_rows() const;
  MixedColumn& column_called(const std::string& word);
  void name_columns();
  bool lacks_something(const MixedCells& cells) const;
  bool survey();
  void check_label(const MixedColumn& label) const;
  void check_feature(const MixedColumn& column) const;
  void lay_out();

  const MixedTable& table_;
  char delimiter_ = ',';
  bool header_ = false;
  std::vector<MixedColumn> columns_;
  int64_t records_ = 0, features_ = 0, classes_ = 0;
};

}  // namespace imprint
