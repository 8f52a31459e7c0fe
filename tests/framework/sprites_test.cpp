#include "framework/data/formats/sprites.h"

#include "framework/data/formats/images.h"
#include "tests/support/fixtures.h"
#include "tests/support/process.h"

namespace imprint::sprites_test {
namespace {

namespace fs = std::filesystem;

// A package of small sprites: two images each, three to test with. Image i is (3i, 3i + 1, 3i + 2).
class Sprites : public testing::Test {
 protected:
  Sprites() {
    fs::create_directory(package_);
    for (int i = 0; i < 5; ++i) sprite(fmt::format("data_batch_{}", i + 1), 2 * i, 2);
    sprite("test_batch", 10, 3);
    text("train_lables.json", "[0,1,2,3,4,5,6,7,8,9]");
    text("test_lables.json", "[9, 9, 0]");
  }

  void sprite(const std::string& name, int first, int images, int64_t width = 1024) const {
    auto pixels = torch::arange(3 * first, 3 * (first + images), torch::kLong).to(torch::kUInt8);
    pixels = pixels.reshape({images, 3, 1}).repeat({1, 1, width});
    if (width > 1) pixels.slice(2, 1, 2).fill_(200);
    write_png(package_ / (name + ".png"), pixels.permute({1, 0, 2}));
  }

  void text(const std::string& name, const std::string& contents) const {
    std::ofstream(package_ / name) << contents;
  }

  std::string refusal() const {
    try {
      sprites_to_cifar(package_, to_);
    } catch (const ConfigError& error) {
      EXPECT_FALSE(fs::exists(to_));
      return std::string(error.what()).substr(package_.string().size() + 1);
    }
    return "(accepted)";
  }

  TempFolder folder_;
  fs::path package_ = folder_.path() / "package", to_ = folder_.path() / "cifar10";
};

TEST_F(Sprites, BecomeTheBinaryVersion) {
  sprites_to_cifar(package_, to_);
  EXPECT_EQ(std::distance(fs::directory_iterator(to_), {}), 6);
  const auto two = file_text(to_ / "data_batch_2.bin");
  ASSERT_EQ(two.size(), 2 * 3073U);  // images 2 and 3
  EXPECT_EQ(two[0], 2);
  EXPECT_EQ(two.substr(1, 3), "\x06\xc8\x06");  // the first three pixels' red
  EXPECT_EQ(two[1 + 1024], 7);
  EXPECT_EQ(two[1 + 2048], 8);
  EXPECT_EQ(two[3073], 3);
  EXPECT_EQ(two[3073 + 1], 9);
  const auto test = file_text(to_ / "test_batch.bin");
  ASSERT_EQ(test.size(), 3 * 3073U);
  EXPECT_EQ(test[2 * 3073], 0);
  EXPECT_EQ(test[2 * 3073 + 3072], 38);
}

TEST_F(Sprites, RefuseADamagedPackageByFile) {
  text("test_lables.json", "[9, 9]");
  EXPECT_EQ(refusal(), "test_lables.json: 2 labels for 3 images");
  text("test_lables.json", "[9, 9, 9, 9]");
  EXPECT_EQ(refusal(), "test_lables.json: 4 labels for 3 images");
  for (const auto* wrong : {"[9, 9, 10]", "[9, 9, -1]", "[9, 9, 1.5]", "{}", "[9, 9, 0", ""}) {
    text("test_lables.json", wrong);
    EXPECT_EQ(refusal(), "test_lables.json: is no JSON list of labels 0 to 9") << wrong;
  }
  text("test_lables.json", "[9, 9, 0]");
  sprite("data_batch_5", 8, 2, 32);
  EXPECT_EQ(refusal(),
            "data_batch_5.png: is 32 pixels wide, expected 1024: an image of 32 x 32 per row");
  text("data_batch_5.png", "gone");
  EXPECT_EQ(refusal(), "data_batch_5.png: is neither PNG nor JPEG: it starts with 67 6f 6e 65");
  fs::remove(package_ / "train_lables.json");
  EXPECT_EQ(refusal(), "train_lables.json: cannot be read: No such file or directory");
}

}  // namespace
}  // namespace imprint::sprites_test
