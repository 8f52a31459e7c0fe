#include "framework/data/formats/images.h"

#include <sys/stat.h>
#include <zlib.h>

#include "tests/support/fixtures.h"
#include "tests/support/pictures.h"
#include "tests/support/process.h"

namespace imprint::images_test {
namespace {

namespace fs = std::filesystem;

std::string big_endian(uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 255);
  return bytes;
}

std::string chunk(const std::string& type, const std::string& data) {
  const auto body = type + data;
  const auto crc =
      crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<unsigned>(body.size()));
  return big_endian(static_cast<uint32_t>(data.size())) + body +
         big_endian(static_cast<uint32_t>(crc));
}

// A PNG file by hand: `rows` hold the filter byte 0 before each row, `before` chunks before them.
std::string png(uint32_t width, uint32_t height, char depth, char colour, const std::string& rows,
                const std::string& before = "", char interlace = 0) {
  std::string packed(compressBound(rows.size()), '\0');
  auto bytes = static_cast<uLongf>(packed.size());
  compress(reinterpret_cast<Bytef*>(packed.data()), &bytes,
           reinterpret_cast<const Bytef*>(rows.data()), rows.size());
  packed.resize(bytes);
  return "\x89PNG\r\n\x1a\n" +
         chunk("IHDR", big_endian(width) + big_endian(height) +
                           std::string{depth, colour, 0, 0, interlace}) +
         before + chunk("IDAT", packed) + chunk("IEND", "");
}

class Images : public testing::Test {
 protected:
  fs::path holds(const std::string& bytes) const {
    std::ofstream(file_, std::ios::binary) << bytes;
    return file_;
  }

  Tensor read(const std::string& bytes, int64_t channels = 3) const {
    return read_image(holds(bytes), channels);
  }

  // What is wrong with the file, without its name.
  std::string refusal(const fs::path& file, int64_t resize = 0) const {
    try {
      resize > 0 ? read_image(file, 3, resize, resize) : read_image(file, 3);
    } catch (const ConfigError& error) {
      EXPECT_EQ(std::string(error.what()).substr(0, file.string().size() + 2),
                file.string() + ": ");
      return std::string(error.what()).substr(file.string().size() + 2);
    }
    return "(accepted)";
  }

  // The same for a file that is never on a disk.
  std::string refusal_of(const std::string& bytes) const {
    const MemoryFile memory(bytes);
    return refusal(fmt::format("/proc/self/fd/{}", memory.fd()));
  }

  // A JPEG and a PNG file.
  std::vector<std::string> sound_files() const {
    const auto pixels =
        torch::randint(0, 256, {12, 12, 3}, at::detail::createCPUGenerator(1), torch::kUInt8);
    write_jpeg(file_, pixels);
    return {file_text(file_), encode_png(pixels.permute({2, 0, 1}))};
  }

  TempFolder folder_;
  fs::path file_ = folder_.path() / "image";
};

// [3, 1, n] from n colours.
Tensor row(const std::vector<std::vector<int>>& colours) {
  std::vector<Tensor> pixels;
  for (const auto& colour : colours) pixels.push_back(torch::tensor(colour).to(torch::kUInt8));
  return torch::stack(pixels, 1).unsqueeze(1);
}

Tensor noise(const std::vector<int64_t>& shape) {
  return torch::randint(0, 256, shape, at::detail::createCPUGenerator(1), torch::kUInt8);
}

TEST_F(Images, PngRoundTrips) {
  for (const int64_t channels : {1, 3}) {
    const auto image = noise({channels, 5, 7});
    write_png(file_, image);
    EXPECT_TRUE(torch::equal(read_image(file_, channels), image));
    EXPECT_EQ(file_text(file_), encode_png(image));
  }
  const auto grey = noise({1, 5, 7});
  write_png(file_, grey);
  EXPECT_TRUE(torch::equal(read_image(file_, 3), grey.expand({3, 5, 7})));
}

TEST_F(Images, PngIsConvertedFromWhateverItHolds) {
  using std::string_literals::operator""s;
  const auto palette = chunk("PLTE", "\x0a\x14\x1e\xc8\x64\x32"s) + chunk("tRNS", "\x00\x80"s);
  EXPECT_TRUE(
      torch::equal(read(png(2, 1, 8, 3, "\0\1\0"s, palette)), row({{200, 100, 50}, {10, 20, 30}})));
  EXPECT_TRUE(torch::equal(read(png(3, 1, 1, 0, "\0\xa0"s)),
                           row({{255, 255, 255}, {0, 0, 0}, {255, 255, 255}})));
  EXPECT_TRUE(
      torch::equal(read(png(2, 1, 8, 6, "\0\1\2\3\0\4\5\6\xff"s)), row({{1, 2, 3}, {4, 5, 6}})));
  EXPECT_TRUE(torch::equal(read(png(1, 1, 8, 4, "\0\x07\0"s)), row({{7, 7, 7}})));
  // 65535 is 255, and 0x7fff is rounded: 32767 / 257 = 127.498.
  EXPECT_TRUE(
      torch::equal(read(png(1, 1, 16, 2, "\0\xff\xff\x7f\xff\0\0"s)), row({{255, 127, 0}})));
  // Adam7: of 2 x 2, the first pass has the first pixel, the sixth the second, the last the rest.
  const auto interlaced = read(png(2, 2, 8, 0, "\0\1\0\2\0\3\4"s, "", 1), 1);
  EXPECT_TRUE(torch::equal(interlaced.flatten(), torch::tensor({1, 2, 3, 4}).to(torch::kUInt8)));
}

TEST_F(Images, GreyIsLuma) {  // 0.299, 0.587 and 0.114 of 255; Pillow gives the same
  const auto image = row({{255, 0, 0}, {0, 255, 0}, {0, 0, 255}, {10, 200, 77}});
  EXPECT_TRUE(torch::equal(read(encode_png(image), 1).flatten(),
                           torch::tensor({76, 150, 29, 129}).to(torch::kUInt8)));
}

TEST_F(Images, JpegIsConvertedFromWhateverItHolds) {
  const auto near = [&](const std::vector<int>& colour) {
    const auto image = read_image(file_, 3).to(torch::kLong);
    EXPECT_EQ(image.sizes(), torch::IntArrayRef({3, 9, 20}));
    const auto expected = torch::tensor(colour).to(torch::kLong).reshape({3, 1, 1});
    EXPECT_LE((image - expected).abs().max().item<int64_t>(), 2) << image.select(2, 0).select(1, 0);
  };
  const auto filled = [](const std::vector<int>& pixel) {
    return torch::tensor(pixel).to(torch::kUInt8).expand({9, 20, -1});
  };
  write_jpeg(file_, filled({200, 100, 50}));
  near({200, 100, 50});
  write_jpeg(file_, filled({200, 100, 50}), JCS_RGB, JCS_RGB);
  near({200, 100, 50});
  write_jpeg(file_, filled({77}), JCS_GRAYSCALE, JCS_GRAYSCALE);
  near({77, 77, 77});
  EXPECT_EQ(read_image(file_, 1).sizes(), torch::IntArrayRef({1, 9, 20}));
  // How much of the light the inks let through; Pillow gives 200 155/255 = 122, 61, 30.
  write_jpeg(file_, filled({200, 100, 50, 155}), JCS_CMYK, JCS_CMYK);
  near({122, 61, 30});
  write_jpeg(file_, filled({200, 100, 50, 155}), JCS_CMYK, JCS_YCCK);
  near({122, 61, 30});
}

TEST_F(Images, RefusesWhatIsNoImage) {
  using std::string_literals::operator""s;
  EXPECT_EQ(refusal(holds("hello, world")),
            "is neither PNG nor JPEG: it starts with 68 65 6c 6c 6f 2c 20 77");
  EXPECT_EQ(refusal(holds("\xff\xd8"s)), "is neither PNG nor JPEG: it starts with ff d8");
  EXPECT_EQ(refusal(holds("")), "is empty, expected a PNG or JPEG image");
  EXPECT_EQ(refusal(folder_.path()), "is a folder, expected an image");
  EXPECT_EQ(refusal(folder_.path() / "missing"), "cannot be read: No such file or directory");
  const auto pipe = folder_.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(refusal(pipe), "is no regular file, expected an image");
  fs::permissions(holds(encode_png(noise({1, 2, 2}))), fs::perms::none);
  // Root may read everything.
  EXPECT_EQ(refusal(file_), ::geteuid() == 0 ? "(accepted)" : "cannot be read: Permission denied");
}

TEST_F(Images, RefusesAbsurdSizesBeforeTakingMemory) {
  EXPECT_EQ(refusal(holds(png(70'000, 1, 8, 0, ""))),
            "is 70000 x 1 pixels; at most 65536 each way and 268435456 in all can be read");
  EXPECT_EQ(refusal(holds(png(16'385, 16'384, 8, 2, ""))),
            "is 16385 x 16384 pixels; at most 65536 each way and 268435456 in all can be read");
  EXPECT_EQ(refusal(holds(png(2'000'000'000, 2'000'000'000, 8, 2, ""))),
            "is 2000000000 x 2000000000 pixels; at most 65536 each way and 268435456 in all can be "
            "read");
  EXPECT_EQ(refusal(holds(png(0, 1, 8, 0, ""))), "cannot be decoded: Invalid IHDR data");
  write_jpeg(file_, torch::zeros({8, 8, 3}, torch::kUInt8));
  auto bytes = file_text(file_);
  const auto size = bytes.find("\xff\xc0") + 5;
  for (size_t i = 0; i < 4; ++i) bytes[size + i] = '\xfd';
  EXPECT_EQ(refusal(holds(bytes)),
            "is 65021 x 65021 pixels; at most 65536 each way and 268435456 in all can be read");
  holds(encode_png(torch::zeros({1, 1, 3000}, torch::kUInt8)));
  EXPECT_EQ(refusal(file_, 400),
            "is 3000 x 1 pixels; with a shorter side of 400 it would be 1200000 x 400, more than "
            "268435456 in all");
}

TEST_F(Images, RefusesEveryTruncatedFile) {
  for (const auto& bytes : sound_files())
    for (size_t length = 8; length < bytes.size(); ++length)
      ASSERT_EQ(refusal_of(bytes.substr(0, length)), "truncated: it ends before its image does")
          << length << " of " << bytes.size();
}

TEST_F(Images, RefusesDamageAndNeverCrashes) {
  auto bytes = sound_files();
  bytes[0].replace(bytes[0].find("\xff\xda"), 2, "\xff\xc4");
  bytes[1][bytes[1].find("IDAT") + 20] ^= 1;
  for (const auto& damaged : bytes)  // then in the words of libjpeg and libpng
    EXPECT_EQ(refusal_of(damaged).substr(0, 19), "cannot be decoded: ");
  for (const auto& sound : sound_files())
    for (size_t at = 0; at < sound.size(); ++at)
      for (const char flip : {'\x01', '\x80', '\xff'}) {
        auto damaged = sound;
        damaged[at] = static_cast<char>(damaged[at] ^ flip);
        refusal_of(damaged);
      }
}

TEST_F(Images, ResizesTheShorterSideAsPillowDoes) {
  auto image = torch::arange(6).reshape({1, 6, 1}) * 40 + torch::arange(9).reshape({1, 1, 9}) * 6;
  image = image.to(torch::kUInt8);
  // PIL.Image.fromarray(image).resize((4, 3), BILINEAR) of Pillow 13
  const auto expected =
      torch::tensor({34, 46, 60, 72, 105, 117, 131, 143, 176, 188, 202, 214}).reshape({1, 3, 4});
  const auto small = resize_shorter(image, 3).to(torch::kLong);
  ASSERT_EQ(small.sizes(), expected.sizes());
  EXPECT_LE((small - expected).abs().max().item<int64_t>(), 1) << small;
  const auto wide = torch::tensor({0, 255}).to(torch::kUInt8).reshape({1, 1, 2});
  EXPECT_TRUE(torch::equal(resize_shorter(wide, 2),
                           torch::tensor({0, 64, 191, 255}).to(torch::kUInt8).expand({1, 2, 4})));
  EXPECT_EQ(resize_shorter(noise({3, 65, 33}), 16).sizes(), torch::IntArrayRef({3, 31, 16}));
  EXPECT_TRUE(torch::equal(resize_shorter(image, 6), image));
}

TEST_F(Images, CropsTheCentreAndPadsWithZeros) {
  const auto line = torch::arange(1, 8, torch::kUInt8).reshape({1, 1, 7});
  const auto crop = [&](int64_t size) {
    return centre_crop(line.expand({1, size, 7}), size)[0][0].to(torch::kLong);
  };
  EXPECT_TRUE(torch::equal(crop(3), torch::tensor({3, 4, 5})));
  EXPECT_TRUE(torch::equal(crop(4), torch::tensor({3, 4, 5, 6})));  // 1.5 is rounded to 2
  EXPECT_TRUE(torch::equal(crop(2), torch::tensor({3, 4})));        // 2.5 is rounded to 2
  EXPECT_TRUE(torch::equal(crop(10), torch::tensor({0, 1, 2, 3, 4, 5, 6, 7, 0, 0})));
  // 1 x 7 to 4 x 4: rows are padded, columns cropped.
  const auto both = centre_crop(line, 4)[0].to(torch::kLong);
  EXPECT_TRUE(torch::equal(both[1], torch::tensor({3, 4, 5, 6})));
  EXPECT_EQ(both.sum().item<int64_t>(), 18);
}

TEST_F(Images, ReadsResizesAndCropsInOneCall) {
  const auto image = noise({3, 20, 30});
  write_png(file_, image);
  EXPECT_TRUE(torch::equal(read_image(file_, 3, 10, 8), centre_crop(resize_shorter(image, 10), 8)));
}

TEST_F(Images, WritesWhollyOrNotAtAll) {
  const auto there = folder_.path() / "no" / "such.png";
  try {
    write_png(there, noise({1, 2, 2}));
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(error.what(), "cannot create " + there.string() + ": No such file or directory");
  }
  EXPECT_THROW(encode_png(noise({2, 3, 3})), c10::Error);
  write_png(file_, noise({1, 2, 2}));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 1);
}

}  // namespace
}  // namespace imprint::images_test
