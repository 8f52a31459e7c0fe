#pragma once

#include <torch/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace imprint {

using torch::Tensor;

/// Reads a PNG or JPEG file, known by its contents and not by its name: uint8 [channels, height,
/// width]. `channels` is 3 (RGB) or 1 (grey, luma of ITU-R 601). Palettes, 16 bits, CMYK and YCCK
/// are converted, an alpha channel is dropped, orientation tags and colour profiles are ignored, as
/// torchvision does. Throws ConfigError naming the file and what is wrong with it.
Tensor read_image(const std::filesystem::path& file, int64_t channels);

/// The same, then torchvision's evaluation transform: `resize_shorter`, `centre_crop`.
Tensor read_image(const std::filesystem::path& file, int64_t channels, int64_t resize,
                  int64_t crop);

/// All of them so: [n, channels, crop, crop], decoded by every core of the machine. The message is
/// that of the first bad file.
Tensor read_images(const std::vector<std::filesystem::path>& files, int64_t channels,
                   int64_t resize, int64_t crop);

/// An image (uint8 [c, h, w]) whose shorter side is `size`: bilinear with antialias, in bytes, the
/// longer side rounded down.
Tensor resize_shorter(const Tensor& image, int64_t size);

/// The middle [c, size, size] of an image [c, h, w], padded with zeros where it is smaller.
Tensor centre_crop(const Tensor& image, int64_t size);

/// The bytes of a PNG file of uint8 [1 or 3, h, w].
std::string encode_png(const Tensor& image);

/// The same as an address that a page can show: "data:image/png;base64,...".
std::string png_address(const Tensor& image);

/// Writes uint8 [1 or 3, h, w] as a PNG file, wholly or not at all. Throws std::runtime_error
/// saying why it cannot be written.
void write_png(const std::filesystem::path& file, const Tensor& image);

}  // namespace imprint
