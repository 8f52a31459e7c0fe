#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "framework/data/formats/idx.h"
#include "framework/data/formats/safetensors.h"
#include "tests/support/fixtures.h"
#include "tests/support/process.h"

namespace imprint::data_test {
namespace {

namespace fs = std::filesystem;

std::string idx(const std::vector<int>& shape, const std::string& bytes) {
  std::string text{0, 0, 8, static_cast<char>(shape.size())};
  for (const int size : shape)
    for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(size >> shift & 255);
  return text + bytes;
}

void write_bytes(const fs::path& file, const std::string& bytes, bool gzip = false) {
  if (!gzip) {
    std::ofstream(file, std::ios::binary) << bytes;
    return;
  }
  auto* const out = gzopen(file.c_str(), "wb");
  gzwrite(out, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(out);
}

// Four files of the MNIST family: two training images of 2 x 2, one test image.
void write_family(const fs::path& folder, bool gzip) {
  const std::string end = gzip ? ".gz" : "";
  write_bytes(folder / ("train-images-idx3-ubyte" + end), idx({2, 2, 2}, "abcdefgh"), gzip);
  write_bytes(folder / ("train-labels-idx1-ubyte" + end), idx({2}, {3, 9}), gzip);
  write_bytes(folder / ("t10k-images-idx3-ubyte" + end), idx({1, 2, 2}, "wxyz"), gzip);
  write_bytes(folder / ("t10k-labels-idx1-ubyte" + end), idx({1}, {0}), gzip);
}

std::string refused_folder(const fs::path& folder) {
  try {
    dataset_of(fmt::format("{{name: fashion_mnist, path: \"{}\"}}", folder.string()));
  } catch (const ConfigError& error) {
    std::string text = error.what();
    const auto prefix = folder.string() + "/";
    for (size_t at = 0; (at = text.find(prefix)) != std::string::npos;)
      text.erase(at, prefix.size());
    return text;
  }
  return "(accepted)";
}

TEST(Idx, ReadsPlainAndCompressedFiles) {
  for (const bool gzip : {false, true}) {
    const TempFolder folder;
    write_family(folder.path(), gzip);
    const auto data =
        dataset_of(fmt::format("{{name: fashion_mnist, path: \"{}\"}}", folder.path().string()));
    EXPECT_EQ(data.x.all().sizes(), torch::IntArrayRef({3, 1, 2, 2}));
    EXPECT_EQ(data.x.all()[1][0][1][1].item<int>(), 'h');
    EXPECT_TRUE(torch::equal(data.y, torch::tensor({3, 9, 0})));
    EXPECT_EQ(data.classes, 10);
  }
}

TEST(Idx, RefusesDamagedFilesByName) {
  const TempFolder folder;
  write_family(folder.path(), false);
  const auto images = folder.path() / "train-images-idx3-ubyte";
  const auto labels = folder.path() / "train-labels-idx1-ubyte";
  write_bytes(images, idx({2, 2, 2}, "abcdef"));
  EXPECT_EQ(refused_folder(folder.path()),
            "train-images-idx3-ubyte: truncated: 2 bytes are missing");
  write_bytes(images, idx({2, 2, 2}, "abcdefghi"));
  EXPECT_EQ(refused_folder(folder.path()),
            "train-images-idx3-ubyte: damaged: it goes on after its last record");
  write_bytes(images, "PNG!");
  EXPECT_EQ(refused_folder(folder.path()),
            "train-images-idx3-ubyte: is no IDX file of bytes: it starts with 50 4e 47 21, "
            "expected 00 00 08 01..04");
  write_bytes(images, idx({3, 2, 2}, "abcdefghijkl"));
  EXPECT_EQ(refused_folder(folder.path()), "train-labels-idx1-ubyte: 2 labels for 3 images");
  write_bytes(images, idx({2, 2, 2}, "abcdefgh"));
  write_bytes(labels, idx({2}, {3, 12}));
  EXPECT_EQ(refused_folder(folder.path()), "train-labels-idx1-ubyte: label 12 outside 0..9");
  write_bytes(labels, "");
  EXPECT_EQ(refused_folder(folder.path()),
            "train-labels-idx1-ubyte: truncated: 4 bytes are missing");
  fs::remove(labels);
  fs::create_directory(labels);
  EXPECT_EQ(refused_folder(folder.path()), "train-labels-idx1-ubyte: is a folder, expected a file");
  fs::remove(labels);
  EXPECT_NE(refused_folder(folder.path()).find("On Debian: apt-get install dataset-fashion-mnist"),
            std::string::npos);
}

TEST(Idx, RefusesADamagedGzipStream) {
  const TempFolder folder;
  write_family(folder.path(), true);
  const auto file = folder.path() / "t10k-labels-idx1-ubyte.gz";
  fs::resize_file(file, fs::file_size(file) - 6);
  EXPECT_EQ(refused_folder(folder.path()),
            "t10k-labels-idx1-ubyte.gz: damaged: its gzip stream ends too early");
}

TEST(FashionMnist, IsTheRealOne) {
  if (!fs::exists("/usr/share/datasets/fashion-mnist")) {
    ASSERT_STRNE(std::getenv("IMPRINT_NO_SKIP") == nullptr ? "" : std::getenv("IMPRINT_NO_SKIP"),
                 "1")
        << "dataset-fashion-mnist is not installed";
    GTEST_SKIP() << "dataset-fashion-mnist is not installed";
  }
  const auto data = dataset_of("fashion_mnist");
  EXPECT_EQ(data.x.all().sizes(), torch::IntArrayRef({70'000, 1, 28, 28}));
  EXPECT_TRUE(torch::equal(data.y.bincount(), torch::full({10}, 7000, torch::kLong)));
  EXPECT_EQ(data.y[0].item<int64_t>(), 9);  // the first image is an ankle boot
}

TEST(Gaussian, HasItsShapeAndIsTheSameEveryTime) {
  const auto data =
      dataset_of("{name: gaussian, records: 500, features: 7, classes: 3, separation: 0}");
  EXPECT_EQ(data.x.all().sizes(), torch::IntArrayRef({500, 7}));
  EXPECT_NEAR(data.x.all().mean().item<double>(), 0, 0.06);
  EXPECT_NEAR(data.x.all().std().item<double>(), 1, 0.06);
  EXPECT_EQ(data.y.max().item<int64_t>(), 2);
  EXPECT_EQ(data.digest(),
            dataset_of("{name: gaussian, records: 500, features: 7, classes: 3, separation: 0}")
                .digest());
  EXPECT_NE(
      data.digest(),
      dataset_of("{name: gaussian, records: 500, features: 7, classes: 3, separation: 0, seed: 1}")
          .digest());
}

TEST(Prototypes, FlipsTheShareOfBitsItSays) {
  const auto pure = dataset_of("{name: prototypes, records: 2000, flip: 0}");
  const auto noisy = dataset_of("{name: prototypes, records: 2000, flip: 0.3}");
  EXPECT_EQ(pure.x.all().sizes(), torch::IntArrayRef({2000, 600}));
  EXPECT_EQ(pure.x.all().scalar_type(), torch::kUInt8);
  EXPECT_NEAR(pure.x.all().ne(noisy.x.all()).to(torch::kDouble).mean().item<double>(), 0.3, 0.005);
}

TEST(AsInput, ScalesImagesAndLeavesBitsAlone) {
  const auto image = torch::full({1, 1, 2, 2}, 255, torch::kUInt8);
  const auto bits = torch::ones({1, 4}, torch::kUInt8);
  EXPECT_EQ(as_input(image, torch::kFloat, torch::kCPU).max().item<float>(), 1);
  EXPECT_EQ(as_input(bits, torch::kDouble, torch::kCPU).max().item<double>(), 1);
}

Partition dealt(const std::string& yaml, int64_t records, uint64_t seed = 0,
                std::string* message = nullptr) {
  Problems problems;
  const auto value = parse_yaml(yaml, "");
  const Protocol protocol{Keys(value, new_reading("data", problems))};
  const auto partition = deal(protocol, records, Stream(seed), {"f.yaml", 1, 2}, problems);
  if (message != nullptr && !problems.empty()) *message = problems.lines().front();
  return partition;
}

TEST(Partition, DealsDisjointPiecesOfTheSizeAsked) {
  const auto p = dealt("{protocol: five_way, size: 10, population: 5, tune: 3}", 100);
  std::set<int64_t> seen;
  int64_t total = 0;
  for (const auto& piece : {p.target_train, p.target_test, p.shadow_train, p.shadow_test,
                            p.reference, p.population, p.tune})
    for (int64_t i = 0; i < piece.size(0); ++i, ++total) seen.insert(piece[i].item<int64_t>());
  EXPECT_EQ(total, 58);
  EXPECT_EQ(seen.size(), 58U);
  EXPECT_EQ(p.reference.size(0), 10);
}

TEST(Partition, UsesEverythingWhenNoSizeIsGiven) {
  EXPECT_EQ(dealt("{protocol: four_way}", 103).target_train.size(0), 25);
  EXPECT_EQ(dealt("{protocol: five_way}", 103).target_train.size(0), 20);
}

TEST(Partition, DependsOnTheSeedAlone) {
  EXPECT_EQ(dealt("{size: 5}", 50, 1).digest(), dealt("{size: 5}", 50, 1).digest());
  EXPECT_NE(dealt("{size: 5}", 50, 1).digest(), dealt("{size: 5}", 50, 2).digest());
}

TEST(Partition, RefusesMoreThanThereIs) {
  std::string message;
  dealt("{protocol: five_way, size: 30, tune: 5}", 100, 0, &message);
  EXPECT_EQ(message,
            "f.yaml:1:2: five_way needs 155 records (5 x 30 + 5), the data have 100; at most 19 "
            "per piece");
}

TEST(View, MixesCandidatesAndKnowsTheMembers) {
  const auto data = dataset_of("{name: gaussian, records: 100}");
  const auto p = dealt("{size: 20}", 100);
  const auto seen = view(data, p, 0, Stream(0));
  EXPECT_EQ(seen.member.sum().item<int64_t>(), 20);
  const auto members = seen.record.masked_select(seen.member);
  EXPECT_TRUE(torch::equal(std::get<0>(members.sort()), std::get<0>(p.target_train.sort())));
  EXPECT_TRUE(torch::equal(seen.candidates.x.all(), data.x.all().index_select(0, seen.record)));
  EXPECT_FALSE(seen.member.slice(0, 0, 20).all().item<bool>());
}

TEST(View, FurtherShadowsRedrawTheShadowPieces) {
  const auto data = dataset_of("{name: gaussian, records: 100}");
  const auto p = dealt("{size: 20}", 100);
  const auto one = view(data, p, 1, Stream(0));
  const auto two = view(data, p, 2, Stream(0));
  EXPECT_TRUE(torch::equal(std::get<0>(one.record.sort()), std::get<0>(two.record.sort())));
  EXPECT_FALSE(torch::equal(std::get<0>(one.record.masked_select(one.member).sort()),
                            std::get<0>(two.record.masked_select(two.member).sort())));
}

TEST(View, PoolCountsOfShadowsSayNothingAboutMembership) {
  const auto data = dataset_of("{name: gaussian, records: 100}");
  const auto p = dealt("{protocol: pool, size: 60, test: 20}", 100);
  const auto target = view(data, p, 0, Stream(0));
  EXPECT_EQ(target.split.train.size(), 30);
  EXPECT_EQ(target.split.test.size(), 20);
  EXPECT_FALSE(target.test_is_non_members);
  auto count = torch::zeros({100}, torch::kLong);
  for (int64_t shadow = 2; shadow <= 7; ++shadow) {
    const auto seen = view(data, p, shadow, Stream(0));
    count.index_add_(0, seen.record, seen.member.to(torch::kLong));
  }
  // Three complete blocks: every record of the pool was in for exactly half of the shadows.
  EXPECT_TRUE(count.index_select(0, p.pool).eq(3).all().item<bool>());
}

TEST(View, PutsCanariesInOrLeavesThemOutByACoin) {
  const auto data = dataset_of("{name: gaussian, records: 300, classes: 3}");
  Problems problems;
  const auto spec = parse_yaml("{size: 20}", "");
  Protocol protocol(Keys(spec, new_reading("a test", problems)));
  protocol.canaries = 200;
  const auto p = deal(protocol, 300, Stream(0), {}, problems);
  problems.raise();
  EXPECT_EQ(p.canaries.size(0), 200);
  for (const int64_t index : {0, 1, 2}) {
    const auto seen = view(data, p, index, Stream(0));
    EXPECT_EQ(seen.record.size(0), 240);
    EXPECT_EQ(seen.natural.sum().item<int64_t>(), 40);
    const auto coins = seen.member.masked_select(seen.natural.logical_not());
    EXPECT_NEAR(coins.sum().item<double>(), 100, 30);
    EXPECT_EQ(seen.split.train.size(), 20 + coins.sum().item<int64_t>());
    EXPECT_TRUE(torch::equal(seen.record.slice(0, 40), p.canaries));
  }
  const auto first = view(data, p, 0, Stream(0)).member.slice(0, 40);
  EXPECT_FALSE(torch::equal(first, view(data, p, 1, Stream(0)).member.slice(0, 40)));
}

TEST(Canaries, HaveWrongLabelsOrRandomFeatures) {
  const auto data = dataset_of("{name: gaussian, records: 100, features: 5, classes: 3}");
  const auto chosen = torch::arange(10, 30);
  const auto wrong = with_canaries(data, chosen, "mislabeled", Stream(0));
  EXPECT_FALSE(wrong.y.slice(0, 10, 30).eq(data.y.slice(0, 10, 30)).any().item<bool>());
  EXPECT_TRUE(torch::equal(wrong.y.slice(0, 30), data.y.slice(0, 30)));
  EXPECT_TRUE(torch::equal(wrong.x.all(), data.x.all()));
  const auto random = with_canaries(data, chosen, "random", Stream(0));
  const auto before = data.x.all(), after = random.x.all();
  EXPECT_TRUE(torch::equal(after.slice(0, 0, 10), before.slice(0, 0, 10)));
  EXPECT_TRUE(torch::equal(after.slice(0, 30), before.slice(0, 30)));
  EXPECT_FALSE(torch::equal(after.slice(0, 10, 30), before.slice(0, 10, 30)));
  // Each feature keeps its values; only who has which is new.
  EXPECT_TRUE(torch::equal(std::get<0>(after.slice(0, 10, 30).sort(0)),
                           std::get<0>(before.slice(0, 10, 30).sort(0))));
  const auto natural = with_canaries(data, chosen, "natural", Stream(0));
  EXPECT_TRUE(torch::equal(natural.y, data.y));
}

TEST(Safetensors, RoundTrips) {
  const TempFolder folder;
  const auto file = folder.path() / "t.safetensors";
  const std::map<std::string, Tensor> tensors{{"a", torch::arange(6).reshape({2, 3})},
                                              {"b", torch::tensor({1.5, -2.0}, torch::kDouble)},
                                              {"flags", torch::tensor({true, false})},
                                              {"none", torch::empty({0}, torch::kFloat)}};
  save_tensors(file, tensors);
  const auto back = load_tensors(file);
  ASSERT_EQ(back.size(), 4U);
  for (const auto& [name, tensor] : tensors)
    EXPECT_TRUE(torch::equal(back.at(name), tensor)) << name;
}

TEST(Safetensors, RefusesTruncatedAndForeignFiles) {
  const TempFolder folder;
  const auto file = folder.path() / "t.safetensors";
  save_tensors(file, {{"a", torch::arange(100)}});
  fs::resize_file(file, fs::file_size(file) - 1);
  EXPECT_THROW(load_tensors(file), std::runtime_error);
  write_bytes(file, "hello, this is no such file at all");
  EXPECT_THROW(load_tensors(file), std::runtime_error);
  EXPECT_THROW(load_tensors(folder.path() / "missing"), std::runtime_error);
}

}  // namespace
}  // namespace imprint::data_test
