#include "tests/support/fixtures.h"
#include "tests/support/process.h"
#include "tests/support/refusals.h"
#include "tests/support/sources.h"

namespace imprint::cifar100_test {
namespace {

TEST(Cifar100, ReadsFineOrCoarseLabels) {
  const TempFolder folder;
  const std::string image(3072, 'x');
  put_file(folder.path() / "train.bin", "\x13\x63" + image + "\x01\x02" + image);
  put_file(folder.path() / "test.bin", "\x05\x32" + image);
  const auto yaml = [&](const std::string& more) {
    return fmt::format("{{name: cifar100, path: \"{}\"{}}}", folder.path().string(), more);
  };
  const auto fine = dataset_of(yaml("")), coarse = dataset_of(yaml(", labels: coarse"));
  EXPECT_TRUE(torch::equal(fine.y, torch::tensor({99, 2, 50})));
  EXPECT_EQ(fine.classes, 100);
  EXPECT_TRUE(torch::equal(coarse.y, torch::tensor({19, 1, 5})));
  EXPECT_EQ(coarse.classes, 20);
  EXPECT_EQ(fine.x.shape(), (std::vector<int64_t>{3, 32, 32}));
  const auto source = source_of(yaml(""));
  EXPECT_EQ(source->files().size(), 2U);
  EXPECT_EQ(source->facts().mean, (std::vector{0.5071, 0.4865, 0.4409}));
  EXPECT_EQ(source->facts().deviation, (std::vector{0.2673, 0.2564, 0.2762}));
}

TEST(Cifar100, RefusesOtherLabelsAndSaysHowToGetItsFiles) {
  EXPECT_NE(
      refusal("", [&] { source_of("{name: cifar100, labels: medium}"); }).find("fine, coarse"),
      std::string::npos);
  const TempFolder folder;
  EXPECT_TRUE(
      refusal("", [&] {
        source_of(fmt::format("{{name: cifar100, path: \"{}\"}}", folder.path().string()))->files();
      }).ends_with("Get them with: imprint data get cifar100"));
}

}  // namespace
}  // namespace imprint::cifar100_test
