#include "framework/data/formats/binary_table.h"

namespace imprint::location30 {
namespace {

/// Location30 (Shokri et al. 2017, from Foursquare check-ins in Bangkok): 5,010 people, which of
/// 446 regions and kinds of places they visited, and one of 30 types, found by clustering. Read
/// from dataset_location.tgz as published, or the file `bangkok` within it.
///
/// Keys: path (the file or its folder; empty: the usual places).
class Location30 final : public BinaryTableSource {
 public:
  explicit Location30(Keys keys)
      : BinaryTableSource(keys, {"location30", "dataset_location.tgz", "bangkok", "", 30, 446}) {}
  Origin origin() const override;
};

Origin Location30::origin() const {
  Origin origin;
  origin.size = "0.3 MB";
  origin.sites = {"https://github.com/privacytrustlab/datasets/raw/master/"};
  origin.downloads = {{"dataset_location.tgz",
                       "sha256:927203f85a868f8ee17a0ded1dc61699efe602167beabe34fbf45b4b1de94b33",
                       287293}};
  origin.files = {
      {"dataset_location.tgz",
       "sha256:927203f85a868f8ee17a0ded1dc61699efe602167beabe34fbf45b4b1de94b33"},
      {"bangkok", "sha256:2ca8f7fc231251e089823e44d39f2d1eed124574cc351c7f80368cfe631dd718"}};
  return origin;
}

IMPRINT_DATASET(Location30, "location30", "5,010 people, 446 places visited or not, 30 classes",
                "Shokri et al., IEEE S&P 2017");

}  // namespace
}  // namespace imprint::location30
