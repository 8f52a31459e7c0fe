#include "framework/data/formats/cifar.h"
#include "framework/data/formats/idx.h"

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
  Origin origin() const override;

 private:
  CifarFormat format() const { return cifar100_format(labels_ == "coarse"); }

  std::string path_, labels_;
};

// MD5 of the archive and of the Python version's files are the publisher's; SHA-256 is that of the
// binary version's files.
Origin Cifar100::origin() const {
  Origin origin;
  origin.size = "169 MB";
  origin.training = 50'000;
  origin.sites = {"https://www.cs.toronto.edu/~kriz/"};
  origin.downloads = {
      {"cifar-100-binary.tar.gz", "md5:03b5dce01913d631647c71ecec9e9cb8", 168513733, true}};
  origin.files = {
      {"train.bin", "sha256:f31298fc616915fa142368359df1c4ca2ae984d6915ca468b998a5ec6aeebf29"},
      {"test.bin", "sha256:d8b1e6b7b3bee4020055f0699b111f60b1af1e262aeb93a0b659061746f8224a"},
      {"train", "md5:16019d7e3df5f24257cddd939b257f8d"},
      {"test", "md5:f0ef6b0ae62326f3e7ffdfab6717acfc"}};
  return origin;
}

IMPRINT_DATASET(Cifar100, "cifar100",
                "60,000 colour images of things and animals, a hundred or twenty classes",
                "Krizhevsky, 2009");

}  // namespace
}  // namespace imprint::cifar100
