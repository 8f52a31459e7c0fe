#include "framework/data/formats/binary_table.h"
#include "tests/support/archives.h"
#include "tests/support/fixtures.h"
#include "tests/support/process.h"

namespace imprint::location30_test {
namespace {

std::string line(const std::string& label, char feature) {
  std::string text = "\"" + label + "\"";
  for (int j = 0; j < 446; ++j) text += std::string(",") + feature;
  return text;
}

TEST(Location30, ReadsLabelsInQuotes) {
  const TempFolder folder;
  write_bytes(folder.path() / "dataset_location.tgz",
              tar_file("bangkok", line("30", '1') + "\r\n" + line("1", '0')) + tar_end(), true);
  const auto data =
      dataset_of(fmt::format("{{name: location30, path: \"{}\"}}", folder.path().string()));
  EXPECT_TRUE(torch::equal(data.y, torch::tensor({29, 0}, torch::kLong)));
  EXPECT_EQ(data.classes, 30);
  EXPECT_EQ(data.x.shape(), std::vector<int64_t>{446});
  EXPECT_TRUE(torch::equal(data.x.all().sum(1), torch::tensor({446, 0}, torch::kLong)));
}

TEST(Location30, SaysHowToGetIt) {
  const TempFolder folder;
  try {
    dataset_of(fmt::format("{{name: location30, path: \"{}\"}}", folder.path().string()));
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_TRUE(std::string(error.what()).ends_with("Get them with: imprint data get location30"));
  }
}

// The counts are those of awk over the published file.
TEST(Location30, IsTheRealOne) {
  Dataset data;
  try {
    data = dataset_of("location30");
  } catch (const ConfigError& error) {
    GTEST_SKIP() << error.what();
  }
  EXPECT_EQ(data.x.all().sizes(), torch::IntArrayRef({5010, 446}));
  const auto counts =
      torch::tensor({169, 178, 147, 155, 97,  182, 120, 308, 145, 210, 189, 184, 141, 122, 229,
                     110, 176, 128, 180, 254, 228, 117, 158, 170, 139, 139, 155, 152, 149, 179},
                    torch::kLong);
  EXPECT_TRUE(torch::equal(data.y.bincount(), counts));
  EXPECT_EQ(data.x.all().sum().item<int64_t>(), 269'047);
  EXPECT_EQ(data.y[0].item<int64_t>(), 12);
}

}  // namespace
}  // namespace imprint::location30_test
