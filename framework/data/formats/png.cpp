#include <fmt/format.h>
#include <png.h>

#include <array>
#include <vector>

#include "framework/data/formats/codec.h"

namespace imprint {
namespace {

/// libpng's reader. It calls `fail` where it cannot go on, which jumps back into `guarded`.
class PngReader {
 public:
  explicit PngReader(const ImageFile& file) : file_(file) {}
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  Tensor pixels() {
    guarded([&] { read_header(); });
    const int64_t width = png_get_image_width(png_, info_),
                  height = png_get_image_height(png_, info_);
    file_.check_size(width, height);
    guarded([&] { ask_for_bytes(); });
    const int64_t channels = png_get_channels(png_, info_);
    TORCH_CHECK((channels == 1 || channels == 3) &&
                    static_cast<int64_t>(png_get_rowbytes(png_, info_)) == width * channels,
                "libpng gives rows that were not asked for");
    auto pixels = torch::empty({height, width, channels}, torch::kUInt8);
    std::vector<png_bytep> rows;
    for (int64_t i = 0; i < height; ++i)
      rows.push_back(pixels.mutable_data_ptr<uint8_t>() + i * width * channels);
    guarded([&] {
      png_read_image(png_, rows.data());
      png_read_end(png_, nullptr);
    });
    return pixels;
  }

 private:
  template <class Step>
  void guarded(const Step& step) {
    if (!survives(back_, step))
      file_.refuse_contents(std::feof(file_.stream.get()) != 0, message_.data());
  }

  void read_header() {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, &fail, &ignore);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
    if (info_ == nullptr) give_up("libpng cannot start");
    // The limits are ours, which say so in our words.
    png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_init_io(png_, file_.stream.get());
    png_read_info(png_, info_);
  }

  // Whatever the file has, rows are to be 8 bits of grey or RGB.
  void ask_for_bytes() {
    png_set_expand(png_);
    png_set_scale_16(png_);
    png_set_strip_alpha(png_);
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
  }

  [[noreturn]] void give_up(const char* message) {
    std::snprintf(message_.data(), message_.size(), "%s", message);
    std::longjmp(back_, 1);
  }

  static void fail(png_structp png, png_const_charp message) {
    static_cast<PngReader*>(png_get_error_ptr(png))->give_up(message);
  }
  static void ignore(png_structp, png_const_charp) {}

  const ImageFile& file_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::jmp_buf back_{};
  std::array<char, 200> message_{};
};

}  // namespace

Tensor decode_png(const ImageFile& file) { return PngReader(file).pixels(); }

std::string encode_png(const Tensor& image) {
  TORCH_CHECK(image.dim() == 3 && image.scalar_type() == torch::kUInt8 && image.numel() > 0 &&
                  (image.size(0) == 1 || image.size(0) == 3),
              "a PNG is made of uint8 [1 or 3, h, w], not ", image.scalar_type(), " ",
              image.sizes());
  const auto pixels = image.permute({1, 2, 0}).contiguous();
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.height = static_cast<png_uint_32>(pixels.size(0));
  png.width = static_cast<png_uint_32>(pixels.size(1));
  png.format = image.size(0) == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(png);
  std::string file(bytes, '\0');
  const int written = png_image_write_to_memory(&png, file.data(), &bytes, 0,
                                                pixels.const_data_ptr<uint8_t>(), 0, nullptr);
  TORCH_CHECK(written != 0, "libpng cannot encode ", image.sizes(), ": ", png.message);
  file.resize(bytes);
  return file;
}

std::string png_address(const Tensor& image) {
  static constexpr auto digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto bytes = encode_png(image);
  std::string text = "data:image/png;base64,";
  for (size_t at = 0; at < bytes.size(); at += 3) {
    uint32_t three = 0;
    for (size_t i = 0; i < 3; ++i)
      three = three << 8 | (at + i < bytes.size() ? static_cast<uint8_t>(bytes[at + i]) : 0);
    for (size_t i = 0; i < 4; ++i)
      text += at + i <= bytes.size() ? digits[three >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

}  // namespace imprint
