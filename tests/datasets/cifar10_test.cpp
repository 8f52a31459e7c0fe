#include "tests/support/fixtures.h"
#include "tests/support/process.h"
#include "tests/support/refusals.h"
#include "tests/support/sources.h"

namespace imprint::cifar10_test {
namespace {

namespace fs = std::filesystem;

/// Six binary batches of one record each, of labels 0 to 5.
void write_batches(const fs::path& folder) {
  fs::create_directories(folder);
  for (int k = 0; k < 6; ++k)
    put_file(folder / (k == 5 ? "test_batch.bin" : fmt::format("data_batch_{}.bin", k + 1)),
             std::string(1, static_cast<char>(k)) + std::string(3072, static_cast<char>(40 * k)));
}

std::string yaml(const fs::path& path) {
  return fmt::format("{{name: cifar10, path: \"{}\"}}", path.string());
}

TEST(Cifar10, ReadsTheFolderGiven) {
  const TempFolder folder;
  write_batches(folder.path() / "cifar-10-batches-bin");
  const auto data = dataset_of(yaml(folder.path()));
  EXPECT_EQ(data.x.shape(), (std::vector<int64_t>{3, 32, 32}));
  EXPECT_TRUE(torch::equal(data.y, torch::arange(6)));
  EXPECT_EQ(data.classes, 10);
  EXPECT_EQ(data.x.all()[5].min().item<int>(), 200);
  EXPECT_EQ(data.digest(), dataset_of(yaml(folder.path() / "cifar-10-batches-bin")).digest());
  const auto files = source_of(yaml(folder.path()))->files();
  ASSERT_EQ(files.size(), 6U);
  EXPECT_EQ(files.front(), folder.path() / "cifar-10-batches-bin/data_batch_1.bin");
  EXPECT_EQ(files.back(), folder.path() / "cifar-10-batches-bin/test_batch.bin");
}

TEST(Cifar10, SaysHowToGetItsFiles) {
  const TempFolder folder;
  for (const bool load : {false, true}) {
    const auto source = source_of(yaml(folder.path()));
    const auto message = refusal("", [&] { load ? (void)source->load() : (void)source->files(); });
    EXPECT_NE(message.find("looked in " + folder.path().string() + "."), std::string::npos);
    EXPECT_TRUE(message.ends_with("Get them with: imprint data get cifar10")) << message;
  }
}

TEST(Cifar10, KnowsItsFacts) {
  const auto facts = source_of("cifar10")->facts();
  EXPECT_EQ(facts.mean, (std::vector{0.4914, 0.4822, 0.4465}));
  EXPECT_EQ(facts.deviation, (std::vector{0.2470, 0.2435, 0.2616}));
  ASSERT_EQ(facts.class_names.size(), 10U);
  std::string animals, vehicles;
  const auto& groups = facts.groups.at("vehicles_animals");
  for (const auto k : groups.at(0)) animals += facts.class_names.at(static_cast<size_t>(k)) + " ";
  for (const auto k : groups.at(1)) vehicles += facts.class_names.at(static_cast<size_t>(k)) + " ";
  EXPECT_EQ(animals, "bird cat deer dog frog horse ");
  EXPECT_EQ(vehicles, "airplane automobile ship truck ");
}

}  // namespace
}  // namespace imprint::cifar10_test
