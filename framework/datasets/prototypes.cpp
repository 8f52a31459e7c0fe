#include "framework/data/dataset.h"
#include "framework/data/stream.h"

namespace imprint::prototypes {
namespace {

/// Binary records round one random prototype per class, each bit flipped with probability `flip`:
/// in its default size the shape of Purchase100. The same records for the same keys.
///
/// Keys: records (20000), features (600), classes (100), flip (0.3), seed (0).
class Prototypes final : public Source {
 public:
  explicit Prototypes(Keys keys)
      : records_(keys.integer("records", 20000).at_least(4).doc("number of records")),
        features_(keys.integer("features", 600).at_least(1).doc("bits per record")),
        classes_(keys.integer("classes", 100).at_least(2).doc("number of classes")),
        flip_(keys.number("flip", 0.3)
                  .within(0, 0.5)
                  .doc("probability that a bit differs from its prototype")),
        seed_(keys.integer("seed", 0).at_least(0).doc(
            "of the records, whatever the experiment's seed")) {}

  Dataset load() const override {
    const auto stream = Stream(static_cast<uint64_t>(seed_)).at("prototypes");
    const auto y =
        torch::randint(0, classes_, {records_}, stream.at("y").generator(), torch::kLong);
    const auto bits = torch::rand({classes_, features_}, stream.at("bits").generator()).lt(0.5);
    const auto flips = torch::rand({records_, features_}, stream.at("flips").generator()).lt(flip_);
    return {bits.index_select(0, y).logical_xor(flips).to(torch::kUInt8), y, classes_};
  }

 private:
  int64_t records_, features_, classes_;
  double flip_;
  int64_t seed_;
};

IMPRINT_DATASET(Prototypes, "prototypes",
                "binary records round class prototypes, shaped like Purchase100", "made up");

}  // namespace
}  // namespace imprint::prototypes
