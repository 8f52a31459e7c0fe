#include "framework/data/formats/images.h"

#include <ATen/ops/_upsample_bilinear2d_aa.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <mutex>
#include <string_view>
#include <thread>

#include "framework/config/problems.h"
#include "framework/data/cache.h"
#include "framework/data/formats/codec.h"
#include "framework/data/formats/file.h"

namespace imprint {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kLongestSide = 1 << 16;
constexpr int64_t kMostPixels = 1 << 28;
constexpr std::string_view kPngStart = "\x89PNG\r\n\x1a\n", kJpegStart = "\xff\xd8\xff";

ImageFile open_image(const fs::path& path) {
  ImageFile file{path, {nullptr, &std::fclose}};
  std::error_code ignored;
  const auto status = fs::status(path, ignored);
  if (fs::is_directory(status)) file.refuse("is a folder, expected an image");
  // Opening a pipe would wait for its writer.
  if (fs::is_other(status)) file.refuse("is no regular file, expected an image");
  file.stream.reset(std::fopen(path.c_str(), "rbe"));
  if (file.stream == nullptr) file.refuse(fmt::format("cannot be read: {}", std::strerror(errno)));
  return file;
}

// The pixels of a PNG or JPEG file [h, w, 1 or 3].
Tensor decoded_image(const ImageFile& file) {
  std::array<char, 8> bytes{};
  const std::string_view start(bytes.data(),
                               std::fread(bytes.data(), 1, bytes.size(), file.stream.get()));
  std::rewind(file.stream.get());
  if (start.empty()) file.refuse("is empty, expected a PNG or JPEG image");
  if (start.starts_with(kPngStart)) return decode_png(file);
  if (start.starts_with(kJpegStart)) return decode_jpeg(file);
  std::string hex;
  for (const unsigned char c : start) hex += fmt::format(" {:02x}", c);
  file.refuse(fmt::format("is neither PNG nor JPEG: it starts with{}", hex));
}

// Rec. 601 luma in fixed point of 16 bits, rounded: [h, w, 3] to [1, h, w].
Tensor luma(const Tensor& pixels) {
  auto grey = torch::empty({1, pixels.size(0), pixels.size(1)}, torch::kUInt8);
  const auto* from = pixels.const_data_ptr<uint8_t>();
  auto* to = grey.mutable_data_ptr<uint8_t>();
  for (int64_t i = 0; i < grey.numel(); ++i, from += 3)
    to[i] =
        static_cast<uint8_t>((from[0] * 19595 + from[1] * 38470 + from[2] * 7471 + 32768) >> 16);
  return grey;
}

Tensor image_planes(const Tensor& pixels, int64_t channels) {
  if (channels == 1 && pixels.size(2) == 3) return luma(pixels);
  return pixels.permute({2, 0, 1}).expand({channels, -1, -1}).contiguous();
}

std::pair<int64_t, int64_t> resized_size(const Tensor& image, int64_t size) {
  const auto height = image.size(1), width = image.size(2);
  if (height <= width) return {size, size * width / height};
  return {size * height / width, size};
}

}  // namespace

void ImageFile::refuse(const std::string& why) const {
  throw ConfigError(fmt::format("{}: {}", path.string(), why));
}

void ImageFile::refuse_contents(bool truncated, const char* message) const {
  if (truncated) refuse("truncated: it ends before its image does");
  refuse(fmt::format("cannot be decoded: {}", message));
}

void ImageFile::check_size(int64_t width, int64_t height) const {
  if (std::max(width, height) > kLongestSide || width * height > kMostPixels)
    refuse(fmt::format("is {} x {} pixels; at most {} each way and {} in all can be read", width,
                       height, kLongestSide, kMostPixels));
}

Tensor read_image(const fs::path& file, int64_t channels) {
  TORCH_CHECK(channels == 1 || channels == 3, "images have 1 or 3 channels, not ", channels);
  return image_planes(decoded_image(open_image(file)), channels);
}

Tensor read_image(const fs::path& file, int64_t channels, int64_t resize, int64_t crop) {
  const auto image = read_image(file, channels);
  const auto [height, width] = resized_size(image, resize);
  if (height * width > kMostPixels)
    throw ConfigError(fmt::format(
        "{}: is {} x {} pixels; with a shorter side of {} it would be {} "
        "x {}, more than {} in all",
        file.string(), image.size(2), image.size(1), resize, width, height, kMostPixels));
  return centre_crop(resize_shorter(image, resize), crop);
}

Tensor resize_shorter(const Tensor& image, int64_t size) {
  const auto [height, width] = resized_size(image, size);
  if (height == image.size(1) && width == image.size(2)) return image;
  return at::_upsample_bilinear2d_aa(image.unsqueeze(0), {height, width}, false).squeeze(0);
}

Tensor centre_crop(const Tensor& image, int64_t size) {
  auto cropped = torch::zeros({image.size(0), size, size}, image.options());
  auto from = image, to = cropped;
  for (const int64_t side : {1, 2}) {
    const auto have = image.size(side), length = std::min(have, size);
    // torchvision rounds the start of a crop to even and the start of a padding down.
    const auto start = static_cast<int64_t>(std::nearbyint(static_cast<double>(have - length) / 2));
    from = from.narrow(side, start, length);
    to = to.narrow(side, (size - length) / 2, length);
  }
  to.copy_(from);
  return cropped;
}

Tensor read_images(const std::vector<fs::path>& files, int64_t channels, int64_t resize,
                   int64_t crop) {
  const auto n = files.size();
  const auto images = room_for({static_cast<int64_t>(n), channels, crop, crop});
  std::atomic<size_t> next{0};
  std::mutex one;
  std::atomic<size_t> bad{n};  // the first file that cannot be read, whatever the number of threads
  std::string why;
  const auto work = [&] {
    for (size_t i = next++; i < bad; i = next++) {
      try {
        images.select(0, static_cast<int64_t>(i))
            .copy_(read_image(files[i], channels, resize, crop));
      } catch (const std::exception& error) {
        const std::lock_guard<std::mutex> lock(one);
        if (i < bad) why = error.what();
        bad = std::min(bad.load(), i);
      }
    }
  };
  // Threads of our own: LibTorch's stay behind, and workers are forked later.
  std::vector<std::thread> threads;
  for (size_t i = 0; i < std::min<size_t>(n, std::thread::hardware_concurrency()); ++i)
    threads.emplace_back(work);
  for (auto& thread : threads) thread.join();
  if (bad < n) throw ConfigError(why);
  return images;
}

void write_png(const fs::path& file, const Tensor& image) { write_file(file, encode_png(image)); }

}  // namespace imprint
