#pragma once

#include "framework/data/records.h"
#include "framework/data/stream.h"

namespace imprint {

/// What is done to the images of a training batch, each image by its own draw; the keys of
/// `data.augment`.
struct Augmentation {
  int64_t crop = 0;   ///< pad by that many zeros on every side and cut out a window of the old size
  bool flip = false;  ///< mirror left and right with probability 1/2

  bool empty() const { return crop == 0 && !flip; }
  /// Images [n, c, h, w] of any type, changed as a whole batch.
  Tensor operator()(const Tensor& images, const Stream& stream) const;
};

}  // namespace imprint
