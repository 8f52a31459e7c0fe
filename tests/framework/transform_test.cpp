#include "framework/privacy/transform.h"

#include "tests/support/fixtures.h"

namespace imprint::transform_test {
namespace {

// 3 x 3 with the numbers 1 to 9, row by row.
Tensor nine() { return torch::arange(1, 10, torch::kUInt8).view({1, 1, 3, 3}); }

Tensor rows(std::vector<int64_t> numbers) {
  return torch::tensor(numbers, torch::kLong).to(torch::kUInt8).view({1, 1, 3, 3});
}

TEST(Transform, OfNothingIsTheImageItself) {
  EXPECT_TRUE(Transform{}.identity());
  EXPECT_TRUE(torch::equal(Transform{}(nine()), nine()));
  EXPECT_EQ(Transform{}.name(), "none");
  const auto table = torch::ones({2, 5});
  EXPECT_TRUE(torch::equal(Transform{}(table), table));
}

TEST(Transform, TurnsCounterClockwise) {
  const auto turned = Transform{.degrees = 90}(nine());
  EXPECT_TRUE(torch::equal(turned, rows({3, 6, 9, 2, 5, 8, 1, 4, 7}))) << turned;
  EXPECT_TRUE(torch::equal(Transform{.degrees = -90}(turned), nine()));
  EXPECT_TRUE(torch::equal(Transform{.degrees = 180}(nine()), rows({9, 8, 7, 6, 5, 4, 3, 2, 1})));
}

TEST(Transform, MovesAndFillsWithZero) {
  EXPECT_TRUE(torch::equal(Transform{.right = 1}(nine()), rows({0, 1, 2, 0, 4, 5, 0, 7, 8})));
  EXPECT_TRUE(torch::equal(Transform{.down = -1}(nine()), rows({4, 5, 6, 7, 8, 9, 0, 0, 0})));
}

TEST(Transform, MirrorsBeforeItMoves) {
  const auto changed = Transform{.right = 1, .flip = true}(nine());
  EXPECT_TRUE(torch::equal(changed, rows({0, 3, 2, 0, 6, 5, 0, 9, 8}))) << changed;
}

TEST(Transform, SmallAnglesTakeTheNearestPixel) {
  // By 4 degrees, a 28 x 28 image moves by at most 14 * sqrt(2) * 4 pi / 180 = 1.4 pixels, and each
  // pixel that stays inside keeps one of the old values.
  const auto image = torch::arange(1, 785, torch::kFloat).view({1, 1, 28, 28});
  const auto turned = Transform{.degrees = 4}(image);
  for (int64_t row = 0; row < 28; ++row) {
    for (int64_t column = 0; column < 28; ++column) {
      const auto value = turned[0][0][row][column].item<int64_t>();
      if (value == 0) continue;
      EXPECT_LE(std::abs((value - 1) / 28 - row), 1);
      EXPECT_LE(std::abs((value - 1) % 28 - column), 1);
    }
  }
  EXPECT_EQ(turned[0][0][14][14].item<double>(), image[0][0][14][14].item<double>());
}

TEST(Transform, SaysWhatItDoes) {
  EXPECT_EQ((Transform{.degrees = -4}.name()), "rotate -4");
  EXPECT_EQ((Transform{.right = 1, .down = -2, .flip = true}.name()), "flip, shift 1 -2");
}

TEST(Transform, RefusesWhatIsNoImage) {
  try {
    Transform{.flip = true}(torch::ones({2, 5}));
    ADD_FAILURE() << "accepted";
  } catch (const c10::Error& error) {
    EXPECT_EQ(std::string(error.what_without_backtrace()),
              "only images can be turned, moved or mirrored, not records of 1 dimension(s)");
  }
}

}  // namespace
}  // namespace imprint::transform_test
