#include "framework/data/formats/mixed_table.h"

namespace imprint::csv {
namespace {

/// Any table of numbers and words: one record per line, comma, semicolon or tab between the cells,
/// gzip-compressed or not. See framework/data/formats/mixed_table.h for what becomes of the
/// columns.
///
/// Keys: path, label (empty: the last column), header (auto), delimiter (auto), missing (refuse),
/// categorical ([]), drop ([]). Columns are called by name or by number from 0.
class Csv final : public Source {
 public:
  explicit Csv(Keys keys)
      : table_{.file = keys.path("path").doc("the table: .csv, .tsv, either with .gz").get(),
               .label = keys.text("label", "").doc("column of the classes; empty: the last one"),
               .header = keys.choice("header", {"auto", "yes", "no"})
                             .doc("whether the first line holds names; auto: yes if in some column "
                                  "a word stands above a number"),
               .delimiter = keys.choice("delimiter", {"auto", ",", ";", "tab"})
                                .doc("auto: the most frequent one in the first line"),
               .missing = keys.choice("missing", {"refuse", "mean", "zero", "drop_record"})
                              .doc("what to do where a number is missing (empty, ?, NA, nan)"),
               .categorical = keys.texts("categorical", {})
                                  .doc("columns of numbers that are categories; those with words "
                                       "always are"),
               .drop = keys.texts("drop", {}).doc("columns to leave out")} {}

  std::vector<std::filesystem::path> files() const override {
    if (std::error_code unreadable; !std::filesystem::is_regular_file(table_.file, unreadable))
      throw ConfigError(table_.file.string() + ": there is no such file");
    return {table_.file};
  }

  Dataset load() const override {
    files();
    return read_mixed_table(table_);
  }

 private:
  MixedTable table_;
};

IMPRINT_DATASET(Csv, "csv", "a table of your own: numbers, categories, a column of labels",
                "your file");

}  // namespace
}  // namespace imprint::csv
