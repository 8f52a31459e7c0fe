#include "framework/data/formats/npz.h"

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

#include "framework/data/formats/npz_reader.h"
#include "tests/support/process.h"
#include "tests/support/refusals.h"

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

// Reading.

class NpzReaderTest : public testing::Test {
 protected:
  fs::path at(const std::string& name) const { return temp_.path() / name; }

  /// Runs a script that may write to folder + '/a.npz' and the like.
  void numpy(const std::string& script) const {
    const auto result =
        run_python("import sys, numpy as np\nfolder = sys.argv[1]\n" + script, {temp_.path()});
    ASSERT_EQ(result.code, 0) << result.err;
  }
  std::string refused_npz(const std::string& name,
                          const std::vector<std::string>& only = {}) const {
    return refusal(temp_.path(), [&] { read_npz(at(name), only); });
  }
  std::string refused_npy(const std::string& bytes) const {
    return refusal("", [&] { read_npy(bytes, "bytes"); });
  }

 private:
  TempFolder temp_;
};

/// A .npy file of format 1.0 with this header.
std::string npy(std::string header, const std::string& data) {
  header += '\n';
  return std::string("\x93NUMPY\1\0", 8) + static_cast<char>(header.size() & 255) +
         static_cast<char>(header.size() >> 8) + header + data;
}

TEST_F(NpzReaderTest, ReadsBackWhatWasWritten) {
  NpzWriter writer(at("a.npz"));
  writer.add("scores", std::vector{0.5, -1.0, 3.25, 4.0, 5.0, 6.0}, {3, 2});
  writer.add("member", std::array{true, false});
  writer.add("single", std::vector<int64_t>{-5}, {});
  writer.add("none", std::vector<float>{}, {0, 3});
  writer.close();
  const auto arrays = read_npz(at("a.npz"));
  ASSERT_EQ(arrays.size(), 4U);
  EXPECT_TRUE(torch::equal(
      arrays.at("scores"),
      torch::tensor({0.5, -1.0, 3.25, 4.0, 5.0, 6.0}, torch::kDouble).reshape({3, 2})));
  EXPECT_TRUE(torch::equal(arrays.at("member"), torch::tensor({true, false})));
  EXPECT_EQ(arrays.at("single").dim(), 0);
  EXPECT_EQ(arrays.at("single").item<int64_t>(), -5);
  EXPECT_EQ(arrays.at("none").sizes(), torch::IntArrayRef({0, 3}));
  EXPECT_EQ(read_npz(at("a.npz"), {"member"}).size(), 1U);
  EXPECT_EQ(refused_npz("a.npz", {"labels"}),
            "a.npz: has no array 'labels'; it has: member, none, scores, single");
}

// Values 0 to 5, or what becomes of them, in every type, order and format of NumPy.
TEST_F(NpzReaderTest, ReadsEveryTypeAndOrderOfNumPy) {
  IMPRINT_NEEDS_PYTHON();
  numpy(R"(
arrays = {}
for t in 'u1 i1 <i2 >i2 <i4 >i4 <i8 >i8 <u2 >u2 <u4 >u4 <u8 >u8 <f2 >f2 <f4 >f4 <f8 >f8 b1'.split():
    a = np.arange(6).reshape(2, 3).astype(t)
    arrays[t], arrays[t + ' columns'] = a, np.asfortranarray(a)
arrays['cube'] = np.asfortranarray(np.arange(24).reshape(2, 3, 4))
arrays['large'] = np.array([65535], 'u2')
arrays['larger'] = np.array([4294967295], 'u4')
np.savez(folder + '/plain.npz', **arrays)
np.savez_compressed(folder + '/packed.npz', **arrays)
np.save(folder + '/alone.npy', arrays['>f4 columns'])
with open(folder + '/long.npy', 'wb') as f:
    np.lib.format.write_array(f, np.arange(3), version=(2, 0))
)");
  const auto expected = torch::arange(6).reshape({2, 3});
  for (const auto* const file : {"plain.npz", "packed.npz"}) {
    auto arrays = read_npz(at(file));
    EXPECT_EQ(arrays.size(), 45U);
    EXPECT_TRUE(torch::equal(arrays.at("cube"), torch::arange(24).reshape({2, 3, 4})));
    EXPECT_EQ(arrays.at("large").item<int64_t>(), 65535);
    EXPECT_EQ(arrays.at("larger").item<int64_t>(), 4294967295);
    for (const auto* const name : {"cube", "large", "larger"}) arrays.erase(name);
    for (const auto& [name, array] : arrays) {
      const bool flags = name.starts_with("b1");
      EXPECT_TRUE(array.is_contiguous()) << name;
      EXPECT_TRUE(torch::equal(array.to(torch::kLong), flags ? expected.clamp_max(1) : expected))
          << name << array;
    }
    EXPECT_EQ(arrays.at(">f2").scalar_type(), torch::kFloat16);
    EXPECT_EQ(arrays.at("<f8").scalar_type(), torch::kFloat64);
    EXPECT_EQ(arrays.at("u1").scalar_type(), torch::kUInt8);
    EXPECT_EQ(arrays.at("b1").scalar_type(), torch::kBool);
    EXPECT_EQ(arrays.at("<u2").scalar_type(), torch::kInt64);
    EXPECT_EQ(arrays.at(">i4").scalar_type(), torch::kInt32);
  }
  EXPECT_TRUE(torch::equal(read_npy(at("alone.npy")), expected.to(torch::kFloat32)));
  EXPECT_TRUE(torch::equal(read_npy(at("long.npy")), torch::arange(3)));
  EXPECT_TRUE(torch::equal(read_npy(file_text(at("long.npy")), "bytes"), torch::arange(3)));
}

TEST_F(NpzReaderTest, RefusesWhatIsNoNumber) {
  IMPRINT_NEEDS_PYTHON();
  numpy(R"(
np.savez(folder + '/objects.npz', x=np.array([{}, None], object))
np.savez(folder + '/texts.npz', x=np.array(['a']))
np.savez(folder + '/fields.npz', x=np.zeros(2, [('a', 'f4'), ('b', 'i4')]))
np.savez(folder + '/huge.npz', x=np.array([2**63], 'u8'))
)");
  EXPECT_EQ(refused_npz("objects.npz"),
            "objects.npz: array 'x' holds Python objects, which are not read; save arrays of "
            "numbers");
  EXPECT_EQ(refused_npz("texts.npz"),
            "texts.npz: array 'x' has elements of type '<U1'; numbers and bools can be read");
  EXPECT_EQ(refused_npz("fields.npz"),
            "fields.npz: array 'x' holds records of several fields; save one array of numbers for "
            "each");
  EXPECT_EQ(refused_npz("huge.npz"),
            "huge.npz: array 'x' has integers of 2^63 and more, which cannot be read");
}

TEST_F(NpzReaderTest, RefusesDamagedArrays) {
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  const auto good = npy(header, "12345678");
  EXPECT_EQ(refused_npy(good), "(accepted)");
  EXPECT_EQ(refused_npy(npy("{\"shape\":(2L , ),'descr':'<f4','fortran_order':True}", "12345678")),
            "(accepted)");
  for (size_t length = 0; length < good.size(); ++length)
    EXPECT_NE(refused_npy(good.substr(0, length)), "(accepted)") << length;
  for (size_t i = 0; i < good.size(); ++i) {
    auto flipped = good;
    flipped[i] = static_cast<char>(flipped[i] ^ 1 << i % 8);
    refused_npy(flipped);  // ends, whatever it says
  }
  EXPECT_EQ(refused_npy("PK"), "bytes: is truncated");
  EXPECT_EQ(refused_npy("no array at all"), "bytes: is no NumPy array");
  EXPECT_EQ(refused_npy(std::string("\x93NUMPY\4\0\0\0\0\0", 12)),
            "bytes: is in version 4 of NumPy's format, known are 1 to 3");
  EXPECT_EQ(refused_npy(good + "9"),
            "bytes: is damaged or truncated: it has 9 bytes, which its shape [2] of '<f4' does not "
            "need");
  EXPECT_EQ(refused_npy(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", "")),
            "bytes: is damaged or truncated: it has 0 bytes, which its shape [-2] of '<f4' does "
            "not need");
  EXPECT_EQ(refused_npy(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, "
                            "4294967296), }",
                            "")),
            "bytes: is damaged or truncated: it has 0 bytes, which its shape [4294967296, "
            "4294967296] of '<f4' does not need");
  EXPECT_EQ(refused_npy(npy("{'descr': '<f4', 'shape': 2}", "")),
            "bytes: is damaged: its header is not NumPy's");
}

}  // namespace
}  // namespace imprint::npz_test
