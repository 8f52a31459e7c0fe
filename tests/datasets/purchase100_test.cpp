#include "framework/data/formats/binary_table.h"
#include "tests/support/archives.h"
#include "tests/support/fixtures.h"
#include "tests/support/process.h"

namespace imprint::purchase100_test {
namespace {

namespace fs = std::filesystem;

/// A line of Purchase100: a label, and feature j is 1 where j is a multiple of `step`.
std::string line(const std::string& label, int64_t step, int64_t features = 600) {
  std::string text = label;
  for (int64_t j = 0; j < features; ++j) text += j % step == 0 ? ",1" : ",0";
  return text + "\n";
}

Dataset read(const fs::path& path) {
  return dataset_of(fmt::format("{{name: purchase100, path: \"{}\"}}", path.string()));
}

/// The message that a table is refused with, from the file's name on.
std::string refused(const std::string& table) {
  const TempFolder folder;
  write_bytes(folder.path() / "dataset_purchase", table);
  try {
    read(folder.path());
  } catch (const ConfigError& error) {
    return std::string(error.what()).substr(folder.path().string().size() + 1);
  }
  return "(accepted)";
}

TEST(Purchase100, ReadsTheArchiveTheFileAndTheirFolder) {
  const TempFolder folder;
  const auto table = line("100", 1) + line("1", 2) + line("42", 7);
  const auto archive = folder.path() / "dataset_purchase.tgz";
  write_bytes(archive, tar_file("dataset_purchase", table) + tar_end(), true);
  const auto plain = folder.path() / "plain/dataset_purchase";
  fs::create_directory(plain.parent_path());
  write_bytes(plain, table);
  for (const auto& path : {archive, folder.path(), plain, plain.parent_path()}) {
    const auto data = read(path);
    EXPECT_TRUE(torch::equal(data.y, torch::tensor({99, 0, 41}, torch::kLong)));
    EXPECT_EQ(data.classes, 100);
    EXPECT_EQ(data.x.packed_features(), 600);
    const auto j = torch::arange(600);
    const auto expected =
        torch::stack({torch::ones(600), j.remainder(2).eq(0), j.remainder(7).eq(0)});
    EXPECT_TRUE(torch::equal(data.x.all(), expected.to(torch::kUInt8)));
  }
}

TEST(Purchase100, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(refused(line("1", 2) + line("2", 2, 599)),
            "dataset_purchase:2: has 599 features, expected 600");
  EXPECT_EQ(refused(line("1", 2, 601)), "dataset_purchase:1: has 601 features, expected 600");
  EXPECT_EQ(refused(line("1", 2) + line("101", 2)),
            "dataset_purchase:2:1: label 101 is outside 1..100");
  EXPECT_EQ(refused(line("0", 2)), "dataset_purchase:1:1: label 0 is outside 1..100");
  EXPECT_EQ(refused(line("1e999", 2)), "dataset_purchase:1:1: label 1e999 is outside 1..100");
  EXPECT_EQ(refused(line("1.5", 2)), "dataset_purchase:1:1: '1.5' is no label, expected 1..100");
  EXPECT_EQ(refused(line("x", 2)), "dataset_purchase:1:1: 'x' is no label, expected 1..100");
  EXPECT_EQ(refused("3,0,1,2\n"),
            "dataset_purchase:1:7: '2' is no binary feature, expected 0 or 1");
  EXPECT_EQ(refused("\n\n"), "dataset_purchase: holds no records");
}

TEST(Purchase100, SaysWhereItLookedAndHowToGetIt) {
  const TempFolder folder;
  try {
    read(folder.path());
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_EQ(
        std::string(error.what()),
        "purchase100: neither dataset_purchase.tgz nor dataset_purchase is there; looked in " +
            folder.path().string() + ". Get them with: imprint data get purchase100");
  }
}

}  // namespace
}  // namespace imprint::purchase100_test
