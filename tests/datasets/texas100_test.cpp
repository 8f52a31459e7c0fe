#include "framework/data/formats/binary_table.h"
#include "tests/support/archives.h"
#include "tests/support/fixtures.h"
#include "tests/support/process.h"

namespace imprint::texas100_test {
namespace {

namespace fs = std::filesystem;

/// A line of features, all 0 but the one at `place`.
std::string line(size_t place) {
  std::string text(2 * 6169 - 1, ',');
  for (size_t j = 0; j < 6169; ++j) text[2 * j] = j == place ? '1' : '0';
  return text + "\n";
}

const std::string& records() {
  static const auto text = line(0) + line(6168) + line(4095);
  return text;
}

Dataset read(const fs::path& path) {
  return dataset_of(fmt::format("{{name: texas100, path: \"{}\"}}", path.string()));
}

void expect_whole(const Dataset& data) {
  EXPECT_TRUE(torch::equal(data.y, torch::tensor({6, 99, 0}, torch::kLong)));
  EXPECT_EQ(data.classes, 100);
  EXPECT_EQ(data.x.packed_features(), 6169);
  EXPECT_TRUE(torch::equal(data.x.all().nonzero(),
                           torch::tensor({{0, 0}, {1, 6168}, {2, 4095}}, torch::kLong)));
}

TEST(Texas100, ReadsFeaturesAndLabelsFromFolders) {
  for (const auto* within : {"texas/100", "100", "."}) {
    const TempFolder folder;
    fs::create_directories(folder.path() / within);
    write_bytes(folder.path() / within / "feats", records());
    write_bytes(folder.path() / within / "labels", "7\n100\n1\n");
    expect_whole(read(folder.path()));
    expect_whole(read(folder.path() / within / "feats"));
  }
}

TEST(Texas100, ReadsTheArchiveInAnyOrder) {
  const auto feats = tar_file("texas/100/feats", records());
  const auto labels = tar_file("texas/100/labels", "7\n100\n1\n");
  const auto others = tar_file("texas/10/feats", "5\n");
  for (const auto& entries : {others + feats + labels, labels + others + feats}) {
    const TempFolder folder;
    write_bytes(folder.path() / "dataset_texas.tgz", entries + tar_end(), true);
    expect_whole(read(folder.path()));
  }
}

TEST(Texas100, SaysWhatIsWrong) {
  const auto refused = [](const std::string& entries) {
    const TempFolder folder;
    write_bytes(folder.path() / "dataset_texas.tgz", entries + tar_end(), true);
    try {
      read(folder.path());
    } catch (const ConfigError& error) {
      return std::string(error.what()).substr(folder.path().string().size() + 1);
    }
    return std::string("(accepted)");
  };
  const auto feats = tar_file("texas/100/feats", records());
  EXPECT_EQ(refused(feats), "dataset_texas.tgz: has no member 'texas/100/labels'");
  EXPECT_EQ(refused(tar_file("texas/100/labels", "7\n")),
            "dataset_texas.tgz: has no member 'texas/100/feats'");
  EXPECT_EQ(refused(feats + tar_file("texas/100/labels", "7\n8\n")),
            "dataset_texas.tgz: 2 labels for 3 records");
  EXPECT_EQ(refused(feats + tar_file("texas/100/labels", "7\n8\n101")),
            "dataset_texas.tgz(texas/100/labels):3:1: label 101 is outside 1..100");
  EXPECT_EQ(refused(feats + tar_file("texas/100/labels", "7\n8,9\n")),
            "dataset_texas.tgz(texas/100/labels):2:3: has a second cell, expected one label per "
            "line");
  EXPECT_EQ(refused(tar_file("texas/100/feats", "0,1,0\n")),
            "dataset_texas.tgz(texas/100/feats):1: has 3 features, expected 6169");
}

TEST(Texas100, NeedsBothFiles) {
  const TempFolder folder;
  write_bytes(folder.path() / "feats", records());
  try {
    read(folder.path());
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_EQ(
        std::string(error.what()),
        "texas100: neither dataset_texas.tgz nor texas/100/feats with labels is there; looked "
        "in " +
            folder.path().string() + ". Get them with: imprint data get texas100");
  }
}

}  // namespace
}  // namespace imprint::texas100_test
