#include "framework/data/formats/cifar.h"

#include <gtest/gtest.h>

#include "tests/support/process.h"
#include "tests/support/refusals.h"

namespace imprint::cifar_test {
namespace {

namespace fs = std::filesystem;

/// A binary record: these labels, then an image whose bytes count from `first`.
std::string record(const std::string& labels, int first) {
  std::string bytes = labels;
  for (int i = 0; i < 3072; ++i) bytes += static_cast<char>((first + i) % 251);
  return bytes;
}

Tensor image(int first) {
  return torch::arange(first, first + 3072).remainder(251).to(torch::kUInt8).reshape({3, 32, 32});
}

// Batch k of CIFAR-10 has one record of label k, the test batch two of label 9; names end in
// `ending`.
void write_cifar10(const fs::path& folder) {
  fs::create_directories(folder);
  for (int k = 1; k <= 5; ++k)
    put_file(folder / fmt::format("data_batch_{}.bin", k), record({static_cast<char>(k)}, 10 * k));
  put_file(folder / "test_batch.bin", record("\x09", 60) + record("\x09", 70));
}

class CifarTest : public testing::Test {
 protected:
  const fs::path& folder() const { return temp_.path(); }

  Dataset read10(const std::vector<fs::path>& folders) const {
    return read_cifar(cifar10_format(), cifar_files(cifar10_format(), folders));
  }
  std::string refused10() const {
    return refusal(folder(), [&] { read10({folder()}); });
  }
  std::string refused100(bool coarse = false) const {
    const auto format = cifar100_format(coarse);
    return refusal(folder(), [&] { read_cifar(format, cifar_files(format, {folder()})); });
  }

 private:
  TempFolder temp_;
};

void expect_batches(const Dataset& data) {
  EXPECT_EQ(data.classes, 10);
  EXPECT_TRUE(torch::equal(data.y, torch::tensor({1, 2, 3, 4, 5, 9, 9})));
  ASSERT_EQ(data.x.shape(), (std::vector<int64_t>{3, 32, 32}));
  EXPECT_EQ(data.x.type(), torch::kUInt8);
  for (int k = 0; k < 7; ++k) EXPECT_TRUE(torch::equal(data.x.all()[k], image(10 * (k + 1)))) << k;
}

TEST_F(CifarTest, ReadsTheBinaryVersionWhereverItLies) {
  write_cifar10(folder() / "flat");
  write_cifar10(folder() / "root/cifar-10-batches-bin");
  expect_batches(read10({folder() / "flat"}));
  expect_batches(read10({folder() / "missing", folder() / "root"}));
}

TEST_F(CifarTest, ReadsBothLabelsOfCifar100) {
  fs::create_directory(folder() / "cifar-100-binary");
  put_file(folder() / "cifar-100-binary/train.bin", record("\x13\x63", 5) + record("\x01\x02", 6));
  put_file(folder() / "cifar-100-binary/test.bin", record(std::string(2, '\0'), 7));
  const auto fine = cifar100_format(false), coarse = cifar100_format(true);
  const auto data = read_cifar(fine, cifar_files(fine, {folder()}));
  EXPECT_TRUE(torch::equal(data.y, torch::tensor({99, 2, 0})));
  EXPECT_EQ(data.classes, 100);
  EXPECT_TRUE(torch::equal(data.x.all()[2], image(7)));
  const auto twenty = read_cifar(coarse, cifar_files(coarse, {folder()}));
  EXPECT_TRUE(torch::equal(twenty.y, torch::tensor({19, 1, 0})));
  EXPECT_EQ(twenty.classes, 20);
}

// As published (strings of Python 2, NumPy's old module) and as Python 3 writes it again, with keys
// that are text or bytes.
constexpr auto kWritePythonVersion = R"(
import sys, os, io, pickle, struct, numpy as np
class Python2(pickle._Pickler):
    dispatch = dict(pickle._Pickler.dispatch)
    def save_bytes(self, b):
        self.write(b'U' + bytes([len(b)]) + b if len(b) < 256 else b'T' + struct.pack('<i', len(b)) + b)
        self.memoize(b)
    def save_str(self, s): self.save_bytes(s.encode())
    dispatch[bytes], dispatch[str] = save_bytes, save_str
def image(first): return ((first + np.arange(3072)) % 251).astype('u1')
def write(name, value, old):
    with open(name, 'wb') as f:
        if not old: return pickle.dump(value, f, protocol=2)
        out = io.BytesIO()
        Python2(out, protocol=2).dump(value)
        f.write(out.getvalue().replace(b'numpy._core.multiarray', b'numpy.core.multiarray'))
for old, as_bytes, root in ((True, True, 'published'), (False, False, 'text'), (False, True, 'bytes')):
    ten, hundred = (f'{sys.argv[1]}/{root}/{n}' for n in ('cifar-10-batches-py', 'cifar-100-python'))
    os.makedirs(ten); os.makedirs(hundred)
    open(f'{sys.argv[1]}/{root}/cifar-10-python.tar.gz', 'wb').close()
    key = (lambda s: s.encode()) if as_bytes else (lambda s: s)
    for k in range(1, 7):
        images = [image(60), image(70)] if k == 6 else [image(10 * k)]
        data = np.stack(images)
        write(f'{ten}/' + ('test_batch' if k == 6 else f'data_batch_{k}'),
              {key('batch_label'): key('training batch'), key('data'): np.asfortranarray(data) if k == 6 else data,
               key('labels'): [9, 9] if k == 6 else [k], key('filenames'): [key('x.png')] * len(images)}, old)
    for name in ('train', 'test'):
        write(f'{hundred}/{name}', {key('data'): np.stack([image(7)]), key('fine_labels'): [99],
                                    key('coarse_labels'): [19]}, old)
class Evil:
    def __reduce__(self): return os.system, ('true',)
write(sys.argv[1] + '/evil', {'data': Evil(), 'labels': [1]}, False)
write(sys.argv[1] + '/floats', {'data': np.zeros((1, 3072)), 'labels': [1]}, False)
write(sys.argv[1] + '/narrow', {'data': np.zeros((1, 3071), 'u1'), 'labels': [1]}, False)
write(sys.argv[1] + '/short', {'data': np.zeros((2, 3072), 'u1'), 'labels': [1]}, False)
write(sys.argv[1] + '/none', {'data': np.zeros((0, 3072), 'u1'), 'labels': []}, False)
write(sys.argv[1] + '/words', {'data': np.zeros((1, 3072), 'u1'), 'labels': ['cat']}, False)
write(sys.argv[1] + '/outside', {'data': np.zeros((1, 3072), 'u1'), 'labels': [10]}, False)
write(sys.argv[1] + '/empty', {}, False)
)";

TEST_F(CifarTest, ReadsThePythonVersion) {
  IMPRINT_NEEDS_PYTHON();
  const auto result = run_python(kWritePythonVersion, {folder()});
  ASSERT_EQ(result.code, 0) << result.err;
  for (const auto* const root : {"published", "text", "bytes"}) {
    expect_batches(read10({folder() / root}));
    expect_batches(read10({folder() / root / "cifar-10-batches-py"}));
    for (const bool coarse : {false, true}) {
      const auto format = cifar100_format(coarse);
      const auto data = read_cifar(format, cifar_files(format, {folder() / root}));
      EXPECT_TRUE(torch::equal(
          data.y,
          torch::tensor(coarse ? std::vector{19, 19} : std::vector{99, 99}).to(torch::kLong)));
      EXPECT_TRUE(torch::equal(data.x.all()[1], image(7)));
    }
  }
  const auto refused = [&](const std::string& name) {
    return refusal(folder(), [&] { read_cifar(cifar10_format(), {folder() / name}); });
  };
  EXPECT_EQ(refused("evil"),
            "evil: uses 'posix.system', which a file of CIFAR does not need; it is not run");
  for (const auto* const name : {"floats", "narrow", "none"})
    EXPECT_EQ(refused(name),
              std::string(name) + ": its 'data' is no array of bytes of shape (n, 3072)");
  EXPECT_EQ(refused("short"), "short: 1 labels for 2 images");
  EXPECT_EQ(refused("words"), "words: its 'labels' is no list of integers");
  EXPECT_EQ(refused("outside"), "outside: record 0 has label 10, outside 0..9");
  EXPECT_EQ(refused("empty"), "empty: holds no dict with 'data' and 'labels'");
  const auto bytes = file_text(folder() / "published/cifar-10-batches-py/data_batch_1");
  for (size_t length = 0; length < bytes.size(); length += 97) {
    put_file(folder() / "cut", bytes.substr(0, length));
    EXPECT_NE(refused("cut"), "(accepted)") << length;
  }
}

TEST_F(CifarTest, RefusesDamagedFilesByName) {
  write_cifar10(folder());
  const auto batch = folder() / "data_batch_3.bin";
  put_file(batch, record("\x01", 0).substr(1));
  EXPECT_EQ(refused10(),
            "data_batch_3.bin: truncated, or no CIFAR-10 file: it has 3072 bytes, expected a "
            "multiple of 3073");
  put_file(batch, record("\x01", 0) + record("\x0a", 0));
  EXPECT_EQ(refused10(), "data_batch_3.bin: record 1 has label 10, outside 0..9");
  put_file(batch, "");
  EXPECT_EQ(refused10(), "data_batch_3.bin: holds no records");
  fs::remove(batch);
  fs::create_directory(batch);
  EXPECT_EQ(refused10(), "data_batch_3.bin: is a folder, expected a file");
  put_file(folder() / "train.bin", record("\x14\x01", 0));
  put_file(folder() / "test.bin", record("\x01\x64", 0));
  EXPECT_EQ(refused100(true), "train.bin: record 0 has label 20, outside 0..19");
  EXPECT_EQ(refused100(), "test.bin: record 0 has label 100, outside 0..99");
}

TEST_F(CifarTest, SaysWhereItLookedAndHowToGetTheFiles) {
  fs::create_directories(folder() / "train");
  fs::create_directories(folder() / "test");
  EXPECT_EQ(refusal("",
                    [&] {
                      cifar_files(cifar100_format(false), {"a", folder()});
                    }),
            "no folder has the 2 files of CIFAR-100 (train, test, or the same ending in .bin), "
            "itself or in cifar-100-python or cifar-100-binary; looked in a, " +
                folder().string() + ". Get them with: imprint data get cifar100");
  EXPECT_NE(refused10().find("data_batch_5, test_batch"), std::string::npos);
  EXPECT_TRUE(refused10().ends_with("Get them with: imprint data get cifar10"));
}

}  // namespace
}  // namespace imprint::cifar_test
