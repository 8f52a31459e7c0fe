#include "framework/data/formats/idx.h"

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

  std::vector<std::filesystem::path> files() const override {
    return find_mnist_files(
        data_folders(path_, "fashion_mnist",
                     {"/usr/share/datasets/fashion-mnist", "data/FashionMNIST/raw"}),
        "On Debian: apt-get install dataset-fashion-mnist. Get them with: imprint data get "
        "fashion_mnist");
  }
  Dataset load() const override { return read_mnist_files(files(), 10); }
  Facts facts() const override {
    return {{0.2860},
            {0.3530},
            {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker",
             "Bag", "Ankle boot"},
            {}};
  }
  Origin origin() const override;

 private:
  std::string path_;
};

// MD5 is the publisher's, of the compressed files; SHA-256 that of their contents.
Origin FashionMnist::origin() const {
  Origin origin;
  origin.size = "31 MB";
  origin.training = 60'000;
  origin.sites = {"http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
                  "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/"};
  origin.downloads = {
      {"train-images-idx3-ubyte.gz", "md5:8d4fb7e6c68d591d4c3dfef9ec88bf0d", 26421880},
      {"train-labels-idx1-ubyte.gz", "md5:25c81989df183df01b3e8a0aad5dffbe", 29515},
      {"t10k-images-idx3-ubyte.gz", "md5:bef4ecab320f06d8554ea6380940ec79", 4422102},
      {"t10k-labels-idx1-ubyte.gz", "md5:bb300cfdad3c16e7a12a480ee83cd310", 5148}};
  origin.mirrors = {{"debian", "dataset-fashion-mnist"}};
  origin.files = {{"train-images-idx3-ubyte",
                   "sha256:c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888"},
                  {"train-labels-idx1-ubyte",
                   "sha256:bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9"},
                  {"t10k-images-idx3-ubyte",
                   "sha256:5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"},
                  {"t10k-labels-idx1-ubyte",
                   "sha256:0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"}};
  return origin;
}

IMPRINT_DATASET(FashionMnist, "fashion_mnist", "70,000 images of clothes, 28 x 28, ten classes",
                "Xiao et al., 2017");

}  // namespace
}  // namespace imprint::fashion_mnist
