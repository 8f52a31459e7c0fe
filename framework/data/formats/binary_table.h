#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "framework/data/dataset.h"

namespace imprint {

/// A published table of binary features: one record per line, comma-separated. Classes count from
/// 1 and stand in front of the features, or in a file of their own, one per line.
struct BinaryTable {
  std::string name;     ///< of the data set: "texas100"
  std::string archive;  ///< as published: "dataset_texas.tgz"
  std::string records;  ///< the file within it: "texas/100/feats"
  std::string labels;   ///< the file of the classes; empty: in front of the features
  int64_t classes = 0;
  int64_t features = 0;
};

/// The files to read: the table, and its labels if they are apart, or the archive. `path` is one of
/// them or the folder that they lie in; empty: the usual places. In a folder, the outer folders of
/// `records` may be missing: texas/100/feats, 100/feats and feats are all found. Throws
/// ConfigError saying where it looked.
std::vector<std::filesystem::path> binary_table_files(const BinaryTable& table,
                                                      const std::string& path);

/// A data set that is such a table. Key: path.
class BinaryTableSource : public Source {
 public:
  BinaryTableSource(Keys& keys, BinaryTable table);
  std::vector<std::filesystem::path> files() const override;
  Dataset load() const override;

 private:
  BinaryTable table_;
  std::string path_;
};

/// All records, as bits, in the order of the table. Throws ConfigError with the place of what is
/// wrong.
Dataset read_binary_table(const BinaryTable& table, const std::string& path);

}  // namespace imprint
