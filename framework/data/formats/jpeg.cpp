#include <array>
#include <cstddef>
#include <cstdio>

#include "framework/data/formats/codec.h"

// These need the names of the headers above, and jerror.h those of jpeglib.h.
// clang-format off
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

namespace imprint {
namespace {

/// libjpeg's reader. It calls `fail` where it cannot go on, which jumps back into `guarded`.
class JpegReader {
 public:
  explicit JpegReader(const ImageFile& file) : file_(file) {
    jpeg_.err = jpeg_std_error(&errors_);
    jpeg_.client_data = this;
    errors_.error_exit = &fail;
    errors_.emit_message = &warn;
  }
  ~JpegReader() { jpeg_destroy_decompress(&jpeg_); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  Tensor pixels() {
    guarded([&] {
      jpeg_create_decompress(&jpeg_);
      jpeg_stdio_src(&jpeg_, file_.stream.get());
      jpeg_read_header(&jpeg_, TRUE);
    });
    file_.check_size(jpeg_.image_width, jpeg_.image_height);
    const bool inks = jpeg_.jpeg_color_space == JCS_CMYK || jpeg_.jpeg_color_space == JCS_YCCK;
    const bool grey = jpeg_.jpeg_color_space == JCS_GRAYSCALE;
    jpeg_.out_color_space = inks ? JCS_CMYK : grey ? JCS_GRAYSCALE : JCS_RGB;
    guarded([&] { jpeg_start_decompress(&jpeg_); });
    const int64_t height = jpeg_.output_height, width = jpeg_.output_width;
    auto pixels = torch::empty({height, width, jpeg_.output_components}, torch::kUInt8);
    read_rows(pixels.mutable_data_ptr<uint8_t>());
    return inks ? without_inks(pixels) : pixels;
  }

 private:
  template <class Step>
  void guarded(const Step& step) {
    if (!survives(back_, step))
      file_.refuse_contents(errors_.msg_code == JWRN_JPEG_EOF, message_.data());
  }

  void read_rows(uint8_t* to) {
    const size_t stride = size_t{jpeg_.output_width} * static_cast<size_t>(jpeg_.output_components);
    guarded([&] {
      while (jpeg_.output_scanline < jpeg_.output_height) {
        JSAMPROW row = to + jpeg_.output_scanline * stride;
        jpeg_read_scanlines(&jpeg_, &row, 1);
      }
      jpeg_finish_decompress(&jpeg_);
    });
  }

  // CMYK to RGB. Files hold how much each ink lets through, since Adobe's programs began it.
  static Tensor without_inks(const Tensor& pixels) {
    const auto* from = pixels.const_data_ptr<uint8_t>();
    auto rgb = torch::empty({pixels.size(0), pixels.size(1), 3}, torch::kUInt8);
    auto* to = rgb.mutable_data_ptr<uint8_t>();
    for (int64_t i = pixels.size(0) * pixels.size(1); i > 0; --i, from += 4)
      for (int c = 0; c < 3; ++c)
        *to++ = static_cast<uint8_t>(from[3] - ((255 - from[c]) * from[3] + 127) / 255);
    return rgb;
  }

  static void fail(j_common_ptr jpeg) {
    auto* const reader = static_cast<JpegReader*>(jpeg->client_data);
    jpeg->err->format_message(jpeg, reader->message_.data());
    std::longjmp(reader->back_, 1);
  }

  // What costs pixels is an error. Others, such as bytes between segments, are in many real files.
  static void warn(j_common_ptr jpeg, int level) {
    if (level >= 0) return;
    switch (jpeg->err->msg_code) {
      case JWRN_JPEG_EOF:
      case JWRN_HIT_MARKER:
      case JWRN_HUFF_BAD_CODE:
      case JWRN_MUST_RESYNC:
        fail(jpeg);
    }
  }

  const ImageFile& file_;
  jpeg_decompress_struct jpeg_{};
  jpeg_error_mgr errors_{};
  std::jmp_buf back_{};
  std::array<char, JMSG_LENGTH_MAX> message_{};
};

}  // namespace

Tensor decode_jpeg(const ImageFile& file) { return JpegReader(file).pixels(); }

}  // namespace imprint
