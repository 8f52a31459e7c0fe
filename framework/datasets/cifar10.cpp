#include "framework/data/cifar.h"
#include "framework/data/idx.h"

namespace imprint::cifar10 {
namespace {

/// CIFAR-10 (Krizhevsky 2009): 50,000 + 10,000 colour images of 32 x 32, ten classes. Read from its
/// binary or Python version, as published or as torchvision's download left it.
///
/// Keys: path (a folder; empty: the usual places).
class Cifar10 final : public Source {
 public:
  explicit Cifar10(Keys keys)
      : path_(
            keys.path("path", "")
                .doc("folder of the batch files, or of the folder they unpack to; empty: the usual "
                     "places")) {}

  std::vector<std::filesystem::path> files() const override {
    return cifar_files(cifar10_format(), data_folders(path_, "cifar10", {"data"}));
  }

  Dataset load() const override { return read_cifar(cifar10_format(), files()); }

  /// The deviation is over all pixels of a channel. Some code of the literature, RelaxLoss's among
  /// it, divides by (0.2023, 0.1994, 0.2010) instead, the mean of the images' own deviations.
  Facts facts() const override {
    return {
        {0.4914, 0.4822, 0.4465},
        {0.2470, 0.2435, 0.2616},
        {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"},
        {{"vehicles_animals", {{2, 3, 4, 5, 6, 7}, {0, 1, 8, 9}}}}};
  }

 private:
  std::string path_;
};

IMPRINT_DATASET(Cifar10, "cifar10", "60,000 colour images of things and animals, ten classes",
                "Krizhevsky, 2009");

}  // namespace
}  // namespace imprint::cifar10
