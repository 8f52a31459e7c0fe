#include "framework/data/idx.h"

namespace imprint::fashion_mnist {
namespace {

/// Fashion-MNIST (Xiao et al. 2017): 60,000 + 10,000 images of 28 x 28, ten kinds of clothes. Read
/// from its IDX files, gzip or not, where Debian's package or torchvision's download left them.
///
/// Keys: path (a folder; empty: the usual places).
class FashionMnist final : public Source {
 public:
  explicit FashionMnist(Keys keys)
      : path_(keys.path("path", "").doc("folder of the IDX files; empty: the usual places")) {}

  Dataset load() const override {
    const auto folders = data_folders(
        path_, "fashion_mnist", {"/usr/share/datasets/fashion-mnist", "data/FashionMNIST/raw"});
    return read_mnist_files(folders, 10, "On Debian: apt-get install dataset-fashion-mnist");
  }

 private:
  std::string path_;
};

IMPRINT_DATASET(FashionMnist, "fashion_mnist", "70,000 images of clothes, 28 x 28, ten classes",
                "Xiao et al., 2017");

}  // namespace
}  // namespace imprint::fashion_mnist
