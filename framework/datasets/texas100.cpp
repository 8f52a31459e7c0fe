#include "framework/data/formats/binary_table.h"

namespace imprint::texas100 {
namespace {

/// Texas100 (Shokri et al. 2017, from the Texas hospital discharge data): 67,330 stays in hospital,
/// 6,169 binary features of patient and causes, and which of the 100 most frequent procedures was
/// done. Read from dataset_texas.tgz as published, or the files 100/feats and 100/labels within it.
///
/// Keys: path (the archive, or the folder of archive or files; empty: the usual places).
class Texas100 final : public BinaryTableSource {
 public:
  explicit Texas100(Keys keys)
      : BinaryTableSource(keys, {"texas100", "dataset_texas.tgz", "texas/100/feats",
                                 "texas/100/labels", 100, 6169}) {}
  Origin origin() const override;
};

// The publisher states no digests.
Origin Texas100::origin() const {
  Origin origin;
  origin.sites = {"https://www.comp.nus.edu.sg/~reza/files/",
                  "https://github.com/privacytrustlab/datasets/raw/master/"};
  origin.downloads = {{"dataset_texas.tgz", ""}};
  origin.files = {{"dataset_texas.tgz", ""}};
  return origin;
}

IMPRINT_DATASET(Texas100, "texas100",
                "67,330 stays in hospital, 6,169 binary features, 100 classes",
                "Shokri et al., IEEE S&P 2017");

}  // namespace
}  // namespace imprint::texas100
