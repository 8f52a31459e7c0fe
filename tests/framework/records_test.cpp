// Compact records, their cache, and what stands between them and the network.
#include <filesystem>
#include <fstream>

#include "framework/data/augment.h"
#include "framework/data/cache.h"
#include "framework/data/formats/npz.h"
#include "framework/training/preparation.h"
#include "tests/support/fixtures.h"
#include "tests/support/process.h"

namespace imprint::records_test {
namespace {

namespace fs = std::filesystem;

TEST(Records, BitsAreTheBytesTheyStandFor) {
  const auto bytes = torch::randint(0, 2, {20, 13}, torch::kUInt8);
  const auto bits = Records::bits(packed_bits(bytes), 13);
  EXPECT_EQ(bits.store().sizes(), torch::IntArrayRef({20, 2}));
  EXPECT_EQ(bits.shape(), std::vector<int64_t>{13});
  EXPECT_TRUE(torch::equal(bits.all(), bytes));
  const auto index = torch::tensor({3, 0, 19, 3});
  EXPECT_TRUE(torch::equal(bits.rows(index), bytes.index_select(0, index)));
  EXPECT_EQ(bits.digest(), Records(bytes).digest());
}

TEST(Records, SelectionsOfSelectionsShareTheStore) {
  const auto values = torch::arange(30, torch::kFloat).view({10, 3});
  const auto some = Records(values).at(torch::tensor({9, 7, 5, 3}));
  const auto fewer = some.at(torch::tensor({2, 0}));
  EXPECT_EQ(fewer.store().const_data_ptr(), values.const_data_ptr());
  EXPECT_TRUE(torch::equal(fewer.all(), values.index_select(0, torch::tensor({5, 9}))));
  EXPECT_TRUE(torch::equal(some.rows(1, 3), values.index_select(0, torch::tensor({7, 5}))));
  EXPECT_EQ(some.numel(), 12);
}

TEST(Augmentation, MovesEachImageByItsOwnDraw) {
  const auto images = torch::randint(1, 255, {64, 3, 8, 8}, torch::kUInt8);
  const auto moved = Augmentation{2, true}(images, Stream(1));
  ASSERT_EQ(moved.sizes(), images.sizes());
  // The obvious way: pad, look for the window among all of them, mirrored or not.
  const auto padded = torch::constant_pad_nd(images, {2, 2, 2, 2});
  std::set<std::tuple<int64_t, int64_t, bool>> seen;
  for (int64_t i = 0; i < images.size(0); ++i) {
    bool found = false;
    for (int64_t down = 0; down <= 4; ++down)
      for (int64_t right = 0; right <= 4; ++right)
        for (const bool mirror : {false, true}) {
          auto window = padded[i].slice(1, down, down + 8).slice(2, right, right + 8);
          if (mirror) window = window.flip(2);
          if (!torch::equal(window, moved[i])) continue;
          found = true;
          seen.insert({down, right, mirror});
        }
    EXPECT_TRUE(found) << i;
  }
  EXPECT_GT(seen.size(), 20U);
}

TEST(Augmentation, IsAFunctionOfItsStreamAndNothingWhenOff) {
  const auto images = torch::rand({5, 1, 6, 4});
  const Augmentation augment{1, true};
  EXPECT_TRUE(torch::equal(augment(images, Stream(1)), augment(images, Stream(1))));
  EXPECT_FALSE(torch::equal(augment(images, Stream(1)), augment(images, Stream(2))));
  EXPECT_TRUE(torch::equal(Augmentation{}(images, Stream(1)), images));
}

// What a network behind `preparation` is given when asked about `x`.
Tensor seen_by_network(const Preparation& preparation, const Records& members, const Tensor& x) {
  class Echo final : public Model {
   public:
    Tensor forward(const Tensor& given) override { return given; }
  };
  const auto model = prepared(std::make_shared<Echo>(), preparation, members);
  place(*model, x.scalar_type(), x.device());
  return model->forward(x);
}

TEST(Preparation, StandardUsesTheConstantsPerChannel) {
  Preparation preparation;
  preparation.normalise = "standard";
  preparation.mean = {0.5, 0.25};
  preparation.deviation = {2, 4};
  const auto x = torch::rand({3, 2, 4, 4}, torch::kDouble);
  const auto seen = seen_by_network(preparation, torch::zeros({1, 2, 4, 4}), x);
  EXPECT_TRUE(torch::allclose(seen.select(1, 0), (x.select(1, 0) - 0.5) / 2));
  EXPECT_TRUE(torch::allclose(seen.select(1, 1), (x.select(1, 1) - 0.25) / 4));
}

TEST(Preparation, MembersGetMeanZeroAndDeviationOne) {
  Preparation preparation;
  preparation.normalise = "members";
  const auto images = torch::randint(0, 255, {50, 3, 4, 4}, torch::kUInt8);
  const auto x = as_input(images, torch::kDouble, torch::kCPU);
  const auto seen = seen_by_network(preparation, images, x);
  EXPECT_TRUE(torch::allclose(seen.mean({0, 2, 3}), torch::zeros({3}, torch::kDouble), 0, 1e-9));
  EXPECT_TRUE(torch::allclose(seen.std({0, 2, 3}, false), torch::ones({3}, torch::kDouble)));
  // A feature that never varies is shifted only.
  const auto table = torch::cat({torch::randn({50, 2}), torch::full({50, 1}, 3)}, 1);
  const auto shown = seen_by_network(preparation, table, table.to(torch::kDouble));
  EXPECT_TRUE(shown.select(1, 2).eq(0).all().item<bool>());
  EXPECT_NEAR(shown.select(1, 0).std(false).item<double>(), 1, 1e-6);
}

TEST(Preparation, CentreSubtractsTheMeanRecord) {
  Preparation preparation;
  preparation.centre = true;
  const auto x = torch::rand({20, 1, 3, 3}, torch::kDouble);
  const auto seen = seen_by_network(preparation, x, x);
  EXPECT_TRUE(torch::allclose(seen, x - x.mean(0)));
}

TEST(Preparation, OffIsTheNetworkItself) {
  const auto network = model_of("linear", {{4}, 2, 0});
  EXPECT_EQ(prepared(network, {}, torch::zeros({2, 4})), network);
  Preparation centred;
  centred.centre = true;
  const auto model = prepared(network, centred, torch::ones({2, 4}));
  EXPECT_NE(model, network);
  EXPECT_EQ(&network_of(*model), network.get());
  EXPECT_TRUE(model->has_closed_form());
}

TEST(Bfloat16, TrainsWeightsOfFloat32) {
  const auto split = small_split();
  const auto fine = train_small("none", split, "{epochs: 8}");
  const auto coarse = train_small("none", split, "{epochs: 8, precision: bfloat16}");
  EXPECT_EQ(coarse.model->parameters().front().scalar_type(), torch::kFloat32);
  EXPECT_FALSE(same_weights(*fine.model, *coarse.model));
  EXPECT_NEAR(coarse.rows.back().loss, fine.rows.back().loss, 0.05);
  // Per-record gradients are summed in the weights' precision.
  const auto clipped = train_small("{name: dpsgd, noise: 0, clip: 1000}", split,
                                   "{epochs: 8, sampling: shuffle, precision: bfloat16}");
  EXPECT_NEAR(clipped.rows.back().loss, coarse.rows.back().loss, 0.05);
}

// Sets $IMPRINT_DATA for as long as it lives.
class DataHome {
 public:
  DataHome() : before_(std::getenv("IMPRINT_DATA") ? std::getenv("IMPRINT_DATA") : "") {
    ::setenv("IMPRINT_DATA", folder_.path().c_str(), 1);
  }
  ~DataHome() {
    before_.empty() ? ::unsetenv("IMPRINT_DATA") : ::setenv("IMPRINT_DATA", before_.c_str(), 1);
  }
  fs::path path() const { return folder_.path(); }
  std::vector<fs::path> entries() const {
    std::vector<fs::path> files;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(path() / "cache", none))
      files.push_back(entry.path());
    return files;
  }

 private:
  TempFolder folder_;
  std::string before_;
};

// Counts how often it really reads.
class Counting final : public Source {
 public:
  explicit Counting(fs::path file) : file_(std::move(file)) {}
  std::vector<fs::path> files() const override { return {file_}; }
  Dataset load() const override {
    ++loads;
    const auto x = torch::randint(0, 2, {70, 11}, Stream(0).generator(), torch::kUInt8);
    return {Records::bits(packed_bits(x), 11), torch::arange(70) % 3, 3};
  }
  mutable int loads = 0;

 private:
  fs::path file_;
};

TEST(Cache, IsReadInsteadOfTheSource) {
  const DataHome home;
  const auto file = home.path() / "big";
  std::ofstream(file) << std::string(2 << 20, 'x');
  const Counting source(file);
  const Component about{"dataset", "counting", "", "", "counting.cpp", {}};
  const auto first = load_records(source, about, "a: 1");
  const auto again = load_records(source, about, "a: 1");
  EXPECT_EQ(source.loads, 1);
  EXPECT_EQ(again.digest, source.load().digest());
  EXPECT_EQ(first.digest, again.digest);
  EXPECT_EQ(again.data.digest(), again.digest);
  EXPECT_EQ(again.data.x.shape(), std::vector<int64_t>{11});
  EXPECT_EQ(reinterpret_cast<uintptr_t>(again.data.x.store().const_data_ptr()) % 64, 0U);
  // Another key: another entry. A changed file: the entry is replaced.
  load_records(source, about, "a: 2");
  EXPECT_EQ(home.entries().size(), 2U);
  std::ofstream(file, std::ios::app) << "more";
  load_records(source, about, "a: 1");
  EXPECT_EQ(source.loads, 4);
  EXPECT_EQ(home.entries().size(), 2U);
  EXPECT_EQ(again.data.digest(), again.digest) << "who had mapped the old entry keeps it";
}

TEST(Cache, DamagedEntriesAreReadAgain) {
  const DataHome home;
  const auto file = home.path() / "big";
  std::ofstream(file) << std::string(2 << 20, 'x');
  const Counting source(file);
  const Component about{"dataset", "counting", "", "", "counting.cpp", {}};
  const auto digest = load_records(source, about, "").digest;
  fs::resize_file(home.entries().front(), 100);
  EXPECT_EQ(load_records(source, about, "").digest, digest);
  EXPECT_EQ(source.loads, 2);
}

TEST(Cache, SmallAndMadeUpSourcesNeedNone) {
  const DataHome home;
  const auto file = home.path() / "small";
  std::ofstream(file) << "x";
  load_records(Counting(file), {"dataset", "counting", "", "", "counting.cpp", {}}, "");
  EXPECT_TRUE(home.entries().empty());
}

}  // namespace
}  // namespace imprint::records_test
