#include <filesystem>
#include <fstream>

#include "framework/data/fetching/verify.h"
#include "framework/data/formats/idx.h"
#include "tests/support/fixtures.h"
#include "tests/support/process.h"
#include "tests/support/sources.h"

namespace imprint::mnist_test {
namespace {

namespace fs = std::filesystem;

void write_bytes(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

// Two training images of 2 x 2 and one test image.
void write_small_mnist(const fs::path& folder) {
  const std::string images{0, 0, 8, 3, 0, 0, 0}, labels{0, 0, 8, 1, 0, 0, 0};
  const std::string two_by_two{0, 0, 0, 2, 0, 0, 0, 2};
  write_bytes(folder / "train-images-idx3-ubyte", images + '\2' + two_by_two + "abcdefgh");
  write_bytes(folder / "train-labels-idx1-ubyte", labels + '\2' + '\3' + '\11');
  write_bytes(folder / "t10k-images-idx3-ubyte", images + '\1' + two_by_two + "wxyz");
  write_bytes(folder / "t10k-labels-idx1-ubyte", labels + '\1' + '\0');
}

std::string at(const fs::path& folder) {
  return fmt::format("{{name: mnist, path: \"{}\"}}", folder.string());
}

TEST(Mnist, ReadsTheTrainingPartFirst) {
  const TempFolder folder;
  write_small_mnist(folder.path());
  const auto data = dataset_of(at(folder.path()));
  EXPECT_EQ(data.x.all().sizes(), torch::IntArrayRef({3, 1, 2, 2}));
  EXPECT_EQ(data.x.all()[2][0][0][0].item<int>(), 'w');
  EXPECT_TRUE(torch::equal(data.y, torch::tensor({3, 9, 0})));
}

TEST(Mnist, NamesItsFilesInTheOrderOfReading) {
  const TempFolder folder;
  write_small_mnist(folder.path());
  const auto files = source_of(at(folder.path()))->files();
  ASSERT_EQ(files.size(), 4U);
  EXPECT_EQ(files.front(), folder.path() / "train-images-idx3-ubyte");
  EXPECT_EQ(files.back(), folder.path() / "t10k-labels-idx1-ubyte");
}

TEST(Mnist, SaysHowToGetIt) {
  const TempFolder folder;
  try {
    source_of(at(folder.path()))->files();
    FAIL() << "an empty folder was accepted";
  } catch (const ConfigError& error) {
    EXPECT_EQ(std::string(error.what()),
              "no folder has the four files train-images-idx3-ubyte[.gz] ...; looked in " +
                  folder.path().string() + ". Get them with: imprint data get mnist");
  }
}

// What `imprint data` needs to know of both members of the family.
TEST(Mnist, EveryDownloadAndEveryFileHasItsDigest) {
  for (const auto* name : {"mnist", "fashion_mnist"}) {
    const auto origin = source_of(name)->origin();
    EXPECT_FALSE(origin.empty());
    EXPECT_EQ(origin.training, 60'000);
    ASSERT_EQ(origin.files.size(), 4U);
    ASSERT_EQ(origin.downloads.size(), 4U);
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(origin.downloads[i].name, origin.files[i].name + ".gz");
      EXPECT_EQ(origin.downloads[i].digest.size(), 4U + 32U);
      EXPECT_EQ(origin.files[i].digest.size(), 7U + 64U);
    }
    for (const auto& site : origin.sites) EXPECT_TRUE(site.ends_with("/")) << site;
    EXPECT_EQ(source_of(name)->facts().mean.size(), 1U);
  }
}

// Mean and deviation of the training part's pixels, as the facts state them.
void expect_facts(const std::string& name) {
  const auto source = source_of(name);
  const auto facts = source->facts();
  const auto pixels = source->load().x.rows(0, 60'000).to(torch::kDouble) / 255;
  EXPECT_NEAR(pixels.mean().item<double>(), facts.mean.at(0), 6e-5);
  EXPECT_NEAR(pixels.std().item<double>(), facts.deviation.at(0), 6e-5);
}

TEST(Mnist, IsTheRealOneWhereItWasFetched) {
  const auto source = source_of("mnist");
  try {
    source->files();
  } catch (const ConfigError& error) {
    GTEST_SKIP() << error.what();
  }
  for (const auto& file : source->files()) EXPECT_TRUE(check_file(source->origin(), file).right());
  const auto data = source->load();
  EXPECT_EQ(data.x.all().sizes(), torch::IntArrayRef({70'000, 1, 28, 28}));
  EXPECT_TRUE(torch::equal(data.y.slice(0, 0, 5), torch::tensor({5, 0, 4, 1, 9})));
  expect_facts("mnist");
}

TEST(FashionMnist, HasTheFactsAndDigestsItStates) {
  const auto source = source_of("fashion_mnist");
  if (!fs::exists("/usr/share/datasets/fashion-mnist")) {
    ASSERT_TRUE(skipping_allowed()) << "dataset-fashion-mnist is not installed";
    GTEST_SKIP() << "dataset-fashion-mnist is not installed";
  }
  for (const auto& file : source->files()) EXPECT_TRUE(check_file(source->origin(), file).right());
  EXPECT_EQ(source->facts().class_names.at(9), "Ankle boot");
  expect_facts("fashion_mnist");
}

}  // namespace
}  // namespace imprint::mnist_test
