#include "framework/reports/tensorboard_logger.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "tests/support/process.h"

namespace imprint::tensorboard_logger_test {
namespace {

namespace fs = std::filesystem;

constexpr double kLoggerInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Pixels of one red dot.
constexpr unsigned char kPng[] = {
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48,
    0x44, 0x52, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x02, 0x00, 0x00,
    0x00, 0x90, 0x77, 0x53, 0xde, 0x00, 0x00, 0x00, 0x0c, 0x49, 0x44, 0x41, 0x54, 0x78,
    0x9c, 0x63, 0xf8, 0xcf, 0xc0, 0x00, 0x00, 0x03, 0x01, 0x01, 0x00, 0xc9, 0xfe, 0x92,
    0xef, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};
const std::string_view kRedDot(reinterpret_cast<const char*>(kPng), sizeof kPng);

class TensorBoardLoggerTest : public testing::Test {
 protected:
  TensorBoardLogger logger() const { return {folder(), "test", 1000}; }
  fs::path folder() const { return temp_.path() / "run"; }
  fs::path file() const { return folder() / "events.out.tfevents.test"; }

  std::string bytes() const {
    std::ifstream in(file(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  /// What TensorBoard's own reader `events` prints of the folder.
  std::string read_back(const std::string& script) const {
    const auto result = run_python(R"(
import sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1], size_guidance={k: 0 for k in
    ('scalars', 'histograms', 'images', 'tensors')})
events.Reload()
)" + script,
                                   {folder()});
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out;
  }

 private:
  TempFolder temp_;
};

template <typename Call>
std::string logger_message(const Call& call) {
  try {
    call();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Crc32c, HasThePublishedCheckValue) { EXPECT_EQ(crc32c("123456789"), 0xE3069283u); }

TEST(Crc32c, OfNothingIsZero) { EXPECT_EQ(crc32c(""), 0u); }

static_assert(!std::is_copy_constructible_v<TensorBoardLogger>);
static_assert(std::is_nothrow_move_constructible_v<TensorBoardLogger>);
static_assert(std::is_nothrow_move_assignable_v<TensorBoardLogger>);

TEST_F(TensorBoardLoggerTest, ScalarsAreReadBackExactly) {
  IMPRINT_NEEDS_PYTHON();
  auto log = logger();
  log.scalar("loss", 0.5, 0, 1000.25);
  log.scalar("loss", 0.1f, 1, 1001.5);
  log.scalar("loss", -0.0, 2, 1002);
  log.scalar("loss", 1e-45f, int64_t{1} << 40, 1003);
  log.scalar("accuracy/größe", 1, 7, 1004);
  EXPECT_EQ(read_back(R"(
for tag in sorted(events.Tags()['scalars']):
    for e in events.Scalars(tag): print(ascii(tag), e.step, e.wall_time, e.value)
)"),
            "'accuracy/gr\\xf6\\xdfe' 7 1004.0 1.0\n"
            "'loss' 0 1000.25 0.5\n"
            "'loss' 1 1001.5 0.10000000149011612\n"
            "'loss' 2 1002.0 -0.0\n"
            "'loss' 1099511627776 1003.0 1.401298464324817e-45\n");
}

TEST_F(TensorBoardLoggerTest, NonFiniteScalarsAreReadBack) {
  IMPRINT_NEEDS_PYTHON();
  auto log = logger();
  log.scalar("loss", kNaN, 0, 1000);
  log.scalar("loss", kLoggerInfinity, 1, 1000);
  log.scalar("loss", -kLoggerInfinity, 2, 1000);
  log.scalar("loss", 1e300, 3, 1000);
  log.scalar("loss", 2, 4, 1000);
  EXPECT_EQ(read_back("for e in events.Scalars('loss'): print(e.step, e.value)"),
            "0 nan\n1 inf\n2 -inf\n3 inf\n4 2.0\n");
}

TEST_F(TensorBoardLoggerTest, TextsAreReadBack) {
  IMPRINT_NEEDS_PYTHON();
  auto log = logger();
  log.text("notes", "# Title\n\n| a | b |", 3, 1000);
  log.text("notes", "", 4, 1000);
  EXPECT_EQ(read_back(R"(
from tensorboard.util import tensor_util
print(events.SummaryMetadata('notes').plugin_data.plugin_name)
for e in events.Tensors('notes'): print(e.step, tensor_util.make_ndarray(e.tensor_proto).item())
)"),
            "text\n3 b'# Title\\n\\n| a | b |'\n4 b''\n");
}

TEST_F(TensorBoardLoggerTest, ImagesAreReadBack) {
  IMPRINT_NEEDS_PYTHON();
  logger().image("dot", kRedDot, 1, 1, 3, 5, 1000);
  EXPECT_EQ(read_back(R"(
import io, PIL.Image
for e in events.Images('dot'):
    image = PIL.Image.open(io.BytesIO(e.encoded_image_string))
    print(e.step, e.width, e.height, image.size, image.getpixel((0, 0)))
)"),
            "5 1 1 (1, 1) (255, 0, 0)\n");
}

TEST_F(TensorBoardLoggerTest, HistogramsCountEveryValueOnce) {
  IMPRINT_NEEDS_PYTHON();
  std::vector<double> values;
  for (int i = 0; i <= 60; ++i) values.push_back(i);  // two in each of 30 buckets, and the maximum
  logger().histogram("h", values, 2, 1000);
  EXPECT_EQ(read_back(R"(
for e in events.Histograms('h'):
    h = e.histogram_value
    print(e.step, h.min, h.max, h.num, h.sum, h.sum_squares)
    print(h.bucket == [2.0] * 29 + [3.0], h.bucket_limit == [2.0 * i for i in range(1, 31)])
)"),
            "2 0.0 60.0 61.0 1830.0 73810.0\nTrue True\n");
}

TEST_F(TensorBoardLoggerTest, HistogramsSkipNonFiniteValues) {
  IMPRINT_NEEDS_PYTHON();
  logger().histogram("h", std::vector{kNaN, 3.0, kLoggerInfinity, 3.0, -kLoggerInfinity}, 0, 1000);
  EXPECT_EQ(read_back("h = events.Histograms('h')[0].histogram_value\n"
                      "print(h.min, h.max, h.num, h.bucket_limit, h.bucket)"),
            "3.0 3.0 2.0 [3.0] [2.0]\n");
}

// The migration is what TensorBoard draws from: [left, right, count] in single precision.
TEST_F(TensorBoardLoggerTest, HistogramsOfExtremeValuesStayDrawable) {
  IMPRINT_NEEDS_PYTHON();
  auto log = logger();
  constexpr double kMax = std::numeric_limits<double>::max();
  constexpr double kTiny = std::numeric_limits<double>::denorm_min();
  log.histogram("h", std::vector{-kMax, 0.0, kMax}, 0, 1000);
  log.histogram("h", std::vector{0.0, kTiny}, 1, 1000);
  log.histogram("h", std::vector{1.0, std::nextafter(1.0, 2.0)}, 2, 1000);
  log.histogram("h", {}, 3, 1000);
  log.histogram("h", std::vector{kNaN}, 4, 1000);
  EXPECT_EQ(read_back(R"(
import glob, numpy
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
from tensorboard.util import tensor_util
for e in EventFileLoader(glob.glob(sys.argv[1] + '/*')[0]).Load():
    for v in e.summary.value:
        rows = tensor_util.make_ndarray(v.tensor)
        print(e.step, rows.shape, rows[:, 2].sum(), numpy.isfinite(rows).all())
)"),
            "0 (30, 3) 3.0 True\n1 (30, 3) 2.0 True\n2 (30, 3) 2.0 True\n"
            "3 (0, 3) 0.0 True\n4 (0, 3) 0.0 True\n");
}

// The sizes of the file after each call tell where its records end.
TEST_F(TensorBoardLoggerTest, AFileCutAnywhereYieldsAllWholeRecordsBeforeTheCut) {
  IMPRINT_NEEDS_PYTHON();
  std::vector<std::string> arguments{file()};
  const auto note_size = [&] { arguments.push_back(std::to_string(fs::file_size(file()))); };
  auto log = logger();
  note_size();
  log.scalar("loss", 0.5, 1, 1000);
  note_size();
  log.text("notes", "some text", 1, 1000);
  note_size();
  log.histogram("h", std::vector{1.0, 2.0}, 1, 1000);
  note_size();
  log.image("dot", kRedDot, 1, 1, 3, 1, 1000);
  note_size();
  const auto result = run_python(R"(
import sys
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
path, ends = sys.argv[1], [int(end) for end in sys.argv[2:]]
whole = open(path, 'rb').read()
records = list(EventFileLoader(path).Load())
assert len(whole) == ends[-1] and len(records) == len(ends), (ends, records)
for size in range(len(whole) + 1):
    with open(path + '.cut', 'wb') as cut: cut.write(whole[:size])
    got = list(EventFileLoader(path + '.cut').Load())
    assert got == records[:sum(end <= size for end in ends)], (size, got)
print('all', len(ends))
)",
                                 arguments);
  EXPECT_EQ(result.out, "all 5\n") << result.err;
}

TEST_F(TensorBoardLoggerTest, SameCallsGiveSameBytesAndReplaceTheFile) {
  const auto write = [&] {
    auto log = logger();
    log.scalar("loss", kNaN, 1, 1001);
    log.histogram("h", std::vector{1.0, 2.0, 4.0}, 1, 1002);
    log.text("notes", "text", 1, 1003);
    log.image("dot", kRedDot, 1, 1, 3, 1, 1004);
    return bytes();
  };
  const auto first = write();
  EXPECT_EQ(write(), first);
  EXPECT_GT(first.size(), kRedDot.size());
}

TEST_F(TensorBoardLoggerTest, UnnamedLoggersNeverShareAFile) {
  const TensorBoardLogger a(folder()), b(folder());
  EXPECT_NE(a.path(), b.path());
  EXPECT_EQ(a.path().filename().string().rfind("events.out.tfevents.", 0), 0u);
}

TEST_F(TensorBoardLoggerTest, GoesOnAfterAMove) {
  IMPRINT_NEEDS_PYTHON();
  auto first = logger();
  first.scalar("loss", 1, 0, 1000);
  auto second = std::move(first);
  second.scalar("loss", 2, 1, 1000);
  EXPECT_EQ(read_back("for e in events.Scalars('loss'): print(e.step, e.value)"), "0 1.0\n1 2.0\n");
}

TEST_F(TensorBoardLoggerTest, AFullDiskIsReportedWithTheFile) {
  fs::create_directories(folder());
  fs::create_symlink("/dev/full", file());
  EXPECT_EQ(logger_message([&] { logger(); }),
            "cannot write " + file().string() + ": No space left on device");
}

TEST_F(TensorBoardLoggerTest, AFolderThatCannotBeMadeIsReported) {
  std::ofstream(folder()) << "in the way";
  EXPECT_EQ(logger_message([&] { logger(); }),
            "cannot create the folder " + folder().string() + ": Not a directory");
}

// A limit on the size of files tears the record, as a disk does that fills up in its midst.
TEST_F(TensorBoardLoggerTest, ATornRecordDoesNotHideLaterOnes) {
  IMPRINT_NEEDS_PYTHON();
  auto log = logger();
  log.scalar("loss", 1, 0, 1000);
  const auto before = bytes();
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{before.size() + 50, old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const auto message = logger_message([&] { log.text("notes", std::string(1000, 'x'), 1, 1000); });
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);

  EXPECT_EQ(message, "cannot write " + file().string() + ": File too large");
  EXPECT_EQ(bytes(), before);
  log.scalar("loss", 2, 1, 1000);
  EXPECT_EQ(read_back("for e in events.Scalars('loss'): print(e.step, e.value)"), "0 1.0\n1 2.0\n");
}

}  // namespace
}  // namespace imprint::tensorboard_logger_test
