#include "framework/data/formats/binary_table.h"

namespace imprint::purchase100 {
namespace {

/// Purchase100 (Shokri et al. 2017, from Kaggle's Acquire Valued Shoppers challenge): 197,324
/// customers, which of 600 products they bought, and one of 100 styles of shopping, found by
/// clustering. Read from dataset_purchase.tgz as published, or the file within it.
///
/// Keys: path (the file or its folder; empty: the usual places).
class Purchase100 final : public BinaryTableSource {
 public:
  explicit Purchase100(Keys keys)
      : BinaryTableSource(
            keys, {"purchase100", "dataset_purchase.tgz", "dataset_purchase", "", 100, 600}) {}
  Origin origin() const override;
};

// The publisher states no digests.
Origin Purchase100::origin() const {
  Origin origin;
  origin.sites = {"https://www.comp.nus.edu.sg/~reza/files/",
                  "https://github.com/privacytrustlab/datasets/raw/master/"};
  origin.downloads = {{"dataset_purchase.tgz", ""}};
  origin.files = {{"dataset_purchase.tgz", ""}, {"dataset_purchase", ""}};
  return origin;
}

IMPRINT_DATASET(Purchase100, "purchase100",
                "197,324 customers, 600 products bought or not, 100 classes",
                "Shokri et al., IEEE S&P 2017");

}  // namespace
}  // namespace imprint::purchase100
