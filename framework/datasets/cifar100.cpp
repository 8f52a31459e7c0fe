#include "framework/data/cifar.h"
#include "framework/data/idx.h"

namespace imprint::cifar100 {
namespace {

/// CIFAR-100 (Krizhevsky 2009): 50,000 + 10,000 colour images of 32 x 32 with two labels each, one
/// of a hundred classes and one of twenty coarse ones. Read from its binary or Python version, as
/// published or as torchvision's download left it.
///
/// Keys: path (a folder; empty: the usual places), labels (fine).
class Cifar100 final : public Source {
 public:
  explicit Cifar100(Keys keys)
      : path_(keys.path("path", "")
                  .doc("folder of the files train and test, or of the folder they unpack to; "
                       "empty: the "
                       "usual places")),
        labels_(keys.choice("labels", {"fine", "coarse"})
                    .doc("fine: a hundred classes; coarse: twenty")) {}

  std::vector<std::filesystem::path> files() const override {
    return cifar_files(format(), data_folders(path_, "cifar100", {"data"}));
  }

  Dataset load() const override { return read_cifar(format(), files()); }

  Facts facts() const override {
    return {{0.5071, 0.4865, 0.4409}, {0.2673, 0.2564, 0.2762}, {}, {}};
  }

 private:
  CifarFormat format() const { return cifar100_format(labels_ == "coarse"); }

  std::string path_, labels_;
};

IMPRINT_DATASET(Cifar100, "cifar100",
                "60,000 colour images of things and animals, a hundred or twenty classes",
                "Krizhevsky, 2009");

}  // namespace
}  // namespace imprint::cifar100
