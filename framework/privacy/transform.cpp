#include "framework/privacy/transform.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace imprint {
namespace {

// For every place of an image, the place its value comes from; -1: from outside.
Tensor places_from(const Transform& transform, int64_t height, int64_t width) {
  const double angle = transform.degrees * std::numbers::pi / 180;
  const double cosine = std::cos(angle), sine = std::sin(angle);
  const double centre_x = static_cast<double>(width) / 2,
               centre_y = static_cast<double>(height) / 2;
  std::vector<int64_t> from;
  for (int64_t row = 0; row < height; ++row) {
    for (int64_t column = 0; column < width; ++column) {
      // From the middle of the pixel, backwards: unmoved, unturned, unmirrored.
      const double x = static_cast<double>(column - transform.right) + 0.5 - centre_x;
      const double y = static_cast<double>(row - transform.down) + 0.5 - centre_y;
      auto source_column = static_cast<int64_t>(std::floor(x * cosine - y * sine + centre_x));
      const auto source_row = static_cast<int64_t>(std::floor(x * sine + y * cosine + centre_y));
      const bool inside =
          source_column >= 0 && source_column < width && source_row >= 0 && source_row < height;
      if (transform.flip) source_column = width - 1 - source_column;
      from.push_back(inside ? source_row * width + source_column : -1);
    }
  }
  return torch::tensor(from, torch::kLong);
}

}  // namespace

std::string Transform::name() const {
  std::string text;
  const auto add = [&](const std::string& word) { text += (text.empty() ? "" : ", ") + word; };
  if (flip) add("flip");
  if (degrees != 0) add(fmt::format("rotate {}", degrees));
  if (right != 0 || down != 0) add(fmt::format("shift {} {}", right, down));
  return text.empty() ? "none" : text;
}

Tensor Transform::operator()(const Tensor& images) const {
  if (identity()) return images;
  TORCH_CHECK(images.dim() == 4, "only images can be turned, moved or mirrored, not records of ",
              images.dim() - 1, " dimension(s)");
  const auto from = places_from(*this, images.size(2), images.size(3)).to(images.device());
  const auto outside = from.lt(0);
  return images.flatten(2)
      .index_select(2, from.clamp_min(0))
      .masked_fill_(outside, 0)
      .view(images.sizes());
}

}  // namespace imprint
