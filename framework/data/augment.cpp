#include "framework/data/augment.h"

#include <ATen/Dispatch.h>

#include <algorithm>

namespace imprint {
namespace {

// One image moved by (down, right) with zeros coming in, then mirrored if asked for.
template <class T>
void move_image(const T* from, T* to, torch::IntArrayRef shape, int64_t down, int64_t right,
                bool mirror) {
  const auto planes = shape[1], height = shape[2], width = shape[3];
  const auto first = std::max<int64_t>(0, right), last = std::min(width, width + right);
  for (int64_t row = 0; row < planes * height; ++row, to += width) {
    const auto source = row % height - down;
    if (source < 0 || source >= height) continue;
    const T* line = from + (row / height * height + source) * width - right;
    if (mirror)
      for (auto x = first; x < last; ++x) to[width - 1 - x] = line[x];
    else
      std::copy(line + first, line + last, to + first);
  }
}

template <class T>
void move_images(const Tensor& images, Tensor& moved, const Tensor& down, const Tensor& right,
                 const Tensor& mirror) {
  const auto each = images.numel() / images.size(0);
  const auto* from = images.const_data_ptr<T>();
  auto* to = moved.mutable_data_ptr<T>();
  const auto *d = down.const_data_ptr<int64_t>(), *r = right.const_data_ptr<int64_t>();
  const auto* m = mirror.const_data_ptr<bool>();
  for (int64_t i = 0; i < images.size(0); ++i)
    move_image(from + i * each, to + i * each, images.sizes(), d[i], r[i], m[i]);
}

}  // namespace

Tensor Augmentation::operator()(const Tensor& images, const Stream& stream) const {
  const auto n = images.size(0);
  if (empty() || n == 0) return images;
  TORCH_CHECK(images.dim() == 4, "crop and flip need images [n, c, h, w], not ", images.sizes());
  auto generator = stream.generator();
  const auto offsets = torch::randint(-crop, crop + 1, {2, n}, generator, torch::kLong);
  const auto mirror = flip ? torch::rand({n}, generator).lt(0.5) : torch::zeros({n}, torch::kBool);
  const auto from = images.cpu().contiguous();
  auto moved = torch::zeros_like(from);
  AT_DISPATCH_ALL_TYPES(from.scalar_type(), "augment", [&] {
    move_images<scalar_t>(from, moved, offsets[0], offsets[1], mirror);
  });
  return moved.to(images.device());
}

}  // namespace imprint
