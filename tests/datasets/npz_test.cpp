#include "framework/data/formats/npz.h"

#include "tests/support/fixtures.h"
#include "tests/support/process.h"
#include "tests/support/refusals.h"
#include "tests/support/sources.h"

// Not npz_test: that is the test of the file format.
namespace imprint::npz_dataset_test {
namespace {

namespace fs = std::filesystem;

class NpzDatasetTest : public testing::Test {
 protected:
  fs::path file() const { return temp_.path() / "records.npz"; }
  std::string yaml(const std::string& more = "") const {
    return fmt::format("{{name: npz, path: \"{}\"{}}}", file().string(), more);
  }

  template <typename X, typename Y>
  void write(const std::vector<X>& x, const std::vector<int64_t>& shape, const std::vector<Y>& y,
             const std::vector<int64_t>& y_shape = {}) const {
    NpzWriter npz(file());
    npz.add("x", x, shape);
    npz.add("y", y, y_shape.empty() ? std::vector{static_cast<int64_t>(y.size())} : y_shape);
    npz.close();
  }

  std::string refused(const std::string& more = "") const {
    return refusal(temp_.path(), [&] { dataset_of(yaml(more)); });
  }

 private:
  TempFolder temp_;
};

using Bytes = std::vector<uint8_t>;
using Labels = std::vector<int64_t>;

std::vector<int64_t> counting(int64_t to) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < to; ++i) values.push_back(i);
  return values;
}

Bytes counting_bytes(int64_t to) {
  const auto values = counting(to);
  return {values.begin(), values.end()};
}

TEST_F(NpzDatasetTest, BytesAreImagesWithChannelsFirst) {
  write(counting_bytes(24), {2, 2, 2, 3}, Labels{0, 1});
  auto data = dataset_of(yaml());
  EXPECT_EQ(data.x.shape(), (std::vector<int64_t>{3, 2, 2}));
  EXPECT_EQ(data.x.type(), torch::kUInt8);
  // The red of the first picture's four points.
  EXPECT_TRUE(
      torch::equal(data.x.all()[0][0].flatten().to(torch::kLong), torch::tensor({0, 3, 6, 9})));
  write(counting_bytes(24), {2, 3, 2, 2}, Labels{0, 1});
  EXPECT_EQ(dataset_of(yaml()).x.shape(), (std::vector<int64_t>{3, 2, 2}));
  EXPECT_EQ(dataset_of(yaml()).x.all()[0][0][0][1].item<int>(), 1);
  write(counting_bytes(24), {2, 4, 3}, Labels{0, 1});
  EXPECT_EQ(dataset_of(yaml()).x.shape(), (std::vector<int64_t>{1, 4, 3}));
  write(counting_bytes(24), {2, 12}, Labels{0, 1});
  EXPECT_EQ(dataset_of(yaml()).x.shape(), (std::vector<int64_t>{12}));
  EXPECT_EQ(dataset_of(yaml()).x.type(), torch::kUInt8);
}

TEST_F(NpzDatasetTest, ZerosAndOnesAreKeptAsBits) {
  const auto expected = torch::tensor({0, 1, 1, 0, 0, 1}).reshape({2, 3}).to(torch::kUInt8);
  write(Labels{0, 1, 1, 0, 0, 1}, {2, 3}, Labels{0, 1});
  const auto integers = dataset_of(yaml());
  write(Bytes{0, 1, 1, 0, 0, 1}, {2, 3}, Labels{0, 1});
  const auto bytes = dataset_of(yaml());
  {
    NpzWriter npz(file());
    npz.add("x", std::array{false, true, true, false, false, true}, {2, 3});
    npz.add("y", Labels{0, 1});
    npz.close();
  }
  for (const auto& data : {integers, bytes, dataset_of(yaml())}) {
    EXPECT_EQ(data.x.packed_features(), 3);
    EXPECT_TRUE(torch::equal(data.x.all(), expected));
  }
}

TEST_F(NpzDatasetTest, NumbersKeepTheirTypeAndIntegersBecomeFloats) {
  write(std::vector{0.25, 1.0, 2.0, 3.0}, {2, 2}, Labels{0, 1});
  EXPECT_EQ(dataset_of(yaml()).x.type(), torch::kFloat64);
  write(std::vector{0.25F, 1.F, 2.F, 3.F}, {2, 2}, Labels{0, 1});
  EXPECT_EQ(dataset_of(yaml()).x.type(), torch::kFloat32);
  write(counting(4), {2, 2}, Labels{0, 1});
  EXPECT_EQ(dataset_of(yaml()).x.type(), torch::kFloat32);
  EXPECT_EQ(dataset_of(yaml()).x.all()[1][1].item<float>(), 3);
  write(std::vector{0.25, 1.0}, {2}, Labels{0, 1});
  EXPECT_EQ(dataset_of(yaml()).x.shape(), std::vector<int64_t>{1});
}

TEST_F(NpzDatasetTest, TakesLabelsOfEveryKind) {
  const std::vector x{0.5, 1.5, 2.5};
  write(x, {3, 1}, Labels{0, 4, 1});
  EXPECT_EQ(dataset_of(yaml()).classes, 5);
  EXPECT_EQ(dataset_of(yaml(", classes: 7")).classes, 7);
  write(x, {3, 1}, Bytes{2, 0, 1}, {3, 1});
  EXPECT_TRUE(torch::equal(dataset_of(yaml()).y, torch::tensor({2, 0, 1})));
  write(x, {3, 1}, std::vector{0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0}, {3, 4});
  const auto data = dataset_of(yaml());
  EXPECT_TRUE(torch::equal(data.y, torch::tensor({1, 0, 1})));
  EXPECT_EQ(data.classes, 4);
}

TEST_F(NpzDatasetTest, NamesItsFileAndItsArrays) {
  {
    NpzWriter npz(file());
    npz.add("pictures", std::vector{0.5, 1.5});
    npz.add("kinds", Labels{0, 1});
    npz.close();
  }
  EXPECT_EQ(dataset_of(yaml(", x: pictures, y: kinds")).size(), 2);
  EXPECT_EQ(source_of(yaml())->files(), std::vector<fs::path>{file()});
  EXPECT_EQ(refused(), "records.npz: has no array 'x'; it has: kinds, pictures");
}

TEST_F(NpzDatasetTest, SaysExactlyWhatIsWrong) {
  EXPECT_EQ(refused(), "records.npz: there is no such file");
  EXPECT_EQ(refusal("", [&] { source_of("npz"); }),
            "dataset 'npz' needs the key 'path' (the .npz file)");
  const std::vector x{0.5, 1.5};
  write(x, {2, 1}, Labels{0, 1, 1});
  EXPECT_EQ(refused(), "records.npz: 'y' has 3 labels for the 2 records of 'x'");
  write(x, {2, 1}, Labels{0, 3});
  EXPECT_EQ(refused(", classes: 3"), "records.npz: record 1 has label 3, outside 0..2");
  write(x, {2, 1}, Labels{0, -1});
  EXPECT_EQ(refused(), "records.npz: record 1 has label -1, outside 0..1048575");
  write(x, {2, 1}, std::vector{0.0, 1.0});
  EXPECT_EQ(refused(),
            "records.npz: labels 'y' must be integers [n] or one-hot [n, K], not Double [2]");
  write(x, {2, 1}, Labels{1, 0, 1, 1}, {2, 2});
  EXPECT_EQ(refused(), "records.npz: row 1 of 'y' is not one-hot: one 1 and else 0");
  write(std::vector{0.5, std::nan("")}, {2, 1}, Labels{0, 1});
  EXPECT_EQ(refused(), "records.npz: record 1 of 'x' holds NaN or infinity");
  write(std::vector<double>{}, {0, 3}, Labels{});
  EXPECT_EQ(refused(), "records.npz: array 'x' is empty");
  {
    NpzWriter npz(file());
    npz.add("x", std::vector{0.5}, {});
    npz.add("y", Labels{0});
    npz.close();
  }
  EXPECT_EQ(refused(),
            "records.npz: array 'x' is a single value, expected one row for each record");
  put_file(file(), "hello");
  EXPECT_EQ(refused(), "records.npz: is no zip file, or truncated: it has no directory");
}

}  // namespace
}  // namespace imprint::npz_dataset_test
