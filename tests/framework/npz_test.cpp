#include "framework/data/npz.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <csignal>
#include <fstream>
#include <iterator>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

#include "tests/support/process.h"

namespace imprint::npz_test {
namespace {

namespace fs = std::filesystem;

class NpzTest : public testing::Test {
 protected:
  fs::path file() const { return temp_.path() / "records.npz"; }

  std::string bytes() const {
    std::ifstream in(file(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::ptrdiff_t files() const {
    return std::distance(fs::directory_iterator(temp_.path()), fs::directory_iterator());
  }

  /// NumPy's view of every array: name, dtype, shape, values.
  std::string loaded() const {
    const auto result = run_python(R"(
import sys, zipfile, numpy
assert zipfile.ZipFile(sys.argv[1]).testzip() is None
with numpy.load(sys.argv[1], allow_pickle=False) as arrays:
    for name in arrays.files:
        a = arrays[name]
        print(ascii(name), a.dtype.str, a.shape, a.tolist())
)",
                                   {file()});
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out;
  }

 private:
  TempFolder temp_;
};

template <typename Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

void write_mixed(const fs::path& path) {
  NpzWriter npz(path);
  npz.add("scores", std::vector{0.1, -0.0, 1e300});
  npz.add("member", std::vector<uint8_t>{1, 0, 255});
  npz.close();
}

TEST_F(NpzTest, EveryElementTypeIsReadBackByNumPy) {
  IMPRINT_NEEDS_PYTHON();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<float> floats{0.5f, 0.1f};
  NpzWriter npz(file());
  npz.add("f8", std::vector{0.1, kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN()});
  npz.add("f4", std::span(floats));
  npz.add("i8", std::vector<int64_t>{std::numeric_limits<int64_t>::min(), -1, 1});
  npz.add("u1", std::vector<uint8_t>{0, 255});
  npz.add("b1", std::array{true, false});
  npz.add("names/größe", "|S4", {2}, "loss\0lt\0", 8);
  npz.close();
  EXPECT_EQ(loaded(),
            "'f8' <f8 (4,) [0.1, inf, -inf, nan]\n"
            "'f4' <f4 (2,) [0.5, 0.10000000149011612]\n"
            "'i8' <i8 (3,) [-9223372036854775808, -1, 1]\n"
            "'u1' |u1 (2,) [0, 255]\n"
            "'b1' |b1 (2,) [True, False]\n"
            "'names/gr\\xf6\\xdfe' |S4 (2,) [b'loss', b'\\x00lt']\n");
}

TEST_F(NpzTest, EveryShapeIsReadBackByNumPy) {
  IMPRINT_NEEDS_PYTHON();
  NpzWriter npz(file());
  npz.add("single", std::vector{2.5}, {});
  npz.add("empty", std::vector<double>{});
  npz.add("no rows", std::vector<float>{}, {0, 3});
  npz.add("matrix", std::vector<int64_t>{1, 2, 3, 4, 5, 6}, {2, 3});
  npz.add("cube", std::vector<uint8_t>{1, 2}, {1, 2, 1});
  npz.close();
  EXPECT_EQ(loaded(),
            "'single' <f8 () 2.5\n"
            "'empty' <f8 (0,) []\n"
            "'no rows' <f4 (0, 3) []\n"
            "'matrix' <i8 (2, 3) [[1, 2, 3], [4, 5, 6]]\n"
            "'cube' |u1 (1, 2, 1) [[[1], [2]]]\n");
}

TEST_F(NpzTest, HeadersOfEveryLengthEndAtAMultipleOf64) {
  IMPRINT_NEEDS_PYTHON();
  NpzWriter npz(file());
  std::vector<int64_t> shape;
  for (int dimensions = 0; dimensions < 30; ++dimensions, shape.push_back(1)) {
    npz.add(std::to_string(dimensions), std::vector{1.0}, shape);
  }
  npz.close();
  const auto result = run_python(R"(
import sys, zipfile, numpy
for info in zipfile.ZipFile(sys.argv[1]).infolist():
    assert (info.file_size - 8) % 64 == 0, info
with numpy.load(sys.argv[1]) as arrays:
    print([arrays[name].ndim for name in arrays] == [*range(30)])
)",
                                 {file()});
  EXPECT_EQ(result.out, "True\n") << result.err;
}

TEST_F(NpzTest, AFileWithoutArraysIsLegal) {
  IMPRINT_NEEDS_PYTHON();
  NpzWriter(file()).close();
  EXPECT_EQ(loaded(), "");
}

TEST_F(NpzTest, SameArraysGiveSameBytes) {
  write_mixed(file());
  const auto first = bytes();
  write_mixed(file());
  EXPECT_EQ(bytes(), first);
}

TEST_F(NpzTest, AppearsOnlyWhenClosed) {
  NpzWriter npz(file());
  npz.add("x", std::vector{1.0});
  EXPECT_FALSE(fs::exists(file()));
  npz.close();
  EXPECT_TRUE(fs::exists(file()));
  EXPECT_EQ(files(), 1);
}

TEST_F(NpzTest, AnUnclosedWriterLeavesThingsAsTheyWere) {
  std::ofstream(file()) << "older";
  { NpzWriter(file()).add("x", std::vector{1.0}); }
  EXPECT_EQ(bytes(), "older");
  EXPECT_EQ(files(), 1);
}

// A limit on the size of files fails as a full disk does.
TEST_F(NpzTest, AFailedWriteLeavesNothingAndClosesTheWriter) {
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{100, old.rlim_max};
  NpzWriter npz(file());
  setrlimit(RLIMIT_FSIZE, &small);
  const auto message = message_of([&] { npz.add("x", std::vector<double>(1000)); });
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);

  EXPECT_EQ(message, "cannot write " + file().string() + ": File too large");
  EXPECT_EQ(files(), 0);
  EXPECT_EQ(message_of([&] { npz.close(); }), file().string() + " is closed already");
}

TEST_F(NpzTest, AMissingFolderIsReportedWithTheFile) {
  const auto path = file().parent_path() / "missing" / "x.npz";
  EXPECT_EQ(message_of([&] { NpzWriter npz(path); }),
            "cannot create " + path.string() + ": No such file or directory");
}

TEST_F(NpzTest, RefusesAnArrayThatIsNotOfItsShape) {
  NpzWriter npz(file());
  const auto start = "array x of " + file().string();
  const std::vector two{1.0, 2.0};
  EXPECT_EQ(message_of([&] { npz.add("x", two, {3}); }),
            start + " has 16 bytes, but its shape (3,) of <f8 needs 24");
  EXPECT_EQ(message_of([&] {
              npz.add("x", two, {-1, -2});
            }),
            start + " has a negative size in its shape (-1, -2)");
  EXPECT_EQ(message_of([&] { npz.add("x", "|O8", {1}, two.data(), 8); }),
            start + " has an unknown dtype: |O8");
  npz.add("x", two);
  EXPECT_EQ(message_of([&] { npz.add("x", two); }), start + " is added twice");
}

}  // namespace
}  // namespace imprint::npz_test
