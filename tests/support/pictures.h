#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdio>
#include <filesystem>

#include "framework/data/formats/images.h"

// It needs the names of the headers above.
// clang-format off
#include <jpeglib.h>
// clang-format on

namespace imprint {

/// Writes pixels (uint8 [h, w, c]) of colour space `from` as a JPEG file that holds them as `as`.
inline void write_jpeg(const std::filesystem::path& file, const Tensor& pixels,
                       J_COLOR_SPACE from = JCS_RGB, J_COLOR_SPACE as = JCS_YCbCr) {
  auto* const out = std::fopen(file.c_str(), "wb");
  ASSERT_NE(out, nullptr) << file;
  const auto bytes = pixels.contiguous();
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  jpeg_stdio_dest(&jpeg, out);
  jpeg.image_height = static_cast<JDIMENSION>(bytes.size(0));
  jpeg.image_width = static_cast<JDIMENSION>(bytes.size(1));
  jpeg.input_components = static_cast<int>(bytes.size(2));
  jpeg.in_color_space = from;
  jpeg_set_defaults(&jpeg);
  jpeg_set_colorspace(&jpeg, as);
  jpeg_set_quality(&jpeg, 100, TRUE);
  jpeg_start_compress(&jpeg, TRUE);
  while (jpeg.next_scanline < jpeg.image_height) {
    auto* row = bytes.mutable_data_ptr<uint8_t>() + jpeg.next_scanline * bytes.stride(0);
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  std::fclose(out);
}

}  // namespace imprint
