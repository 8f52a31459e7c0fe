#include "framework/data/dataset.h"
#include "framework/data/formats/npz_reader.h"

namespace imprint::npz {
namespace {

/// Bytes and numbers [n, h, w, channels] as channels come first here, unless they do already.
Tensor channels_first(const Tensor& x) {
  const auto channels = [](int64_t size) { return size == 1 || size == 3; };
  if (x.dim() != 4 || !channels(x.size(3)) || channels(x.size(1))) return x;
  return x.permute({0, 3, 1, 2}).contiguous();
}

bool is_binary(const Tensor& x) {
  if (x.is_floating_point()) return false;
  return x.scalar_type() == torch::kBool || !x.gt(1).logical_or(x.lt(0)).any().item<bool>();
}

/// The user's own records: two arrays of a NumPy .npz file, made by numpy.savez(file, x=x, y=y) or
/// numpy.savez_compressed.
///
/// x [n, ...]: bytes stay bytes, and are images if they are [n, h, w], [n, c, h, w] or [n, h, w, c]
/// with 1 or 3 channels c; features [n, f] that are all 0 or 1 are kept as bits; other integers and
/// float16 become float32; float32 and float64 stay (with channels moved first as in images).
/// y: labels [n], integers of any type, or one-hot rows [n, K].
///
/// Keys: path (required), x (x), y (y), classes (0: highest label + 1, or K).
class Npz final : public Source {
 public:
  explicit Npz(Keys keys)
      : path_(keys.path("path").doc("the .npz file")),
        x_(keys.text("x", "x").doc("name of the array of records, one for each row")),
        y_(keys.text("y", "y").doc("name of the array of labels")),
        classes_(keys.integer("classes", 0)
                     .within(0, most_classes)
                     .doc("number of classes; 0: highest label + 1")) {}

  std::vector<std::filesystem::path> files() const override {
    if (std::error_code unreadable; !std::filesystem::exists(path_, unreadable))
      refuse("there is no such file");
    return {path_};
  }

  Dataset load() const override {
    auto arrays = read_npz(files().front(), {x_, y_});
    const auto x = arrays.at(x_), y = arrays.at(y_);
    if (x.dim() == 0) refuse("array '{}' is a single value, expected one row for each record", x_);
    if (x.numel() == 0) refuse("array '{}' is empty", x_);
    const auto labels = labels_of(y);
    if (labels.size(0) != x.size(0))
      refuse("'{}' has {} labels for the {} records of '{}'", y_, labels.size(0), x.size(0), x_);
    return {records_of(x), labels, checked_classes(labels, y)};
  }

 private:
  static constexpr int64_t most_classes = 1 << 20;

  template <typename... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> why, Args&&... args) const {
    throw ConfigError(path_ + ": " + fmt::format(why, std::forward<Args>(args)...));
  }

  Records records_of(const Tensor& x) const {
    if (x.dim() == 1) return records_of(x.unsqueeze(1));
    if (x.dim() == 2 && is_binary(x))
      return Records::bits(packed_bits(x.to(torch::kUInt8)), x.size(1));
    if (x.scalar_type() == torch::kUInt8) return channels_first(x.dim() == 3 ? x.unsqueeze(1) : x);
    if (!x.is_floating_point()) return channels_first(x.to(torch::kFloat32));
    const auto bad = x.isfinite().flatten(1).all(1).logical_not().nonzero();
    if (bad.size(0) > 0)
      refuse("record {} of '{}' holds NaN or infinity", bad[0][0].item<int64_t>(), x_);
    return channels_first(x.scalar_type() == torch::kHalf ? x.to(torch::kFloat32) : x);
  }

  Tensor labels_of(const Tensor& y) const {
    if (y.dim() == 2 && y.size(1) > 1) return labels_of_rows(y);
    if (y.is_floating_point() || y.dim() < 1 || y.dim() > 2)
      refuse("labels '{}' must be integers [n] or one-hot [n, K], not {} {}", y_,
             c10::toString(y.scalar_type()), c10::str(y.sizes()));
    return y.flatten().to(torch::kLong);
  }

  Tensor labels_of_rows(const Tensor& y) const {
    const auto ones = y.eq(1);
    const auto good = y.eq(0).logical_or(ones).all(1).logical_and(ones.sum(1).eq(1));
    const auto bad = good.logical_not().nonzero();
    if (bad.size(0) > 0)
      refuse("row {} of '{}' is not one-hot: one 1 and else 0", bad[0][0].item<int64_t>(), y_);
    return ones.to(torch::kUInt8).argmax(1);
  }

  int64_t checked_classes(const Tensor& labels, const Tensor& y) const {
    const auto most = classes_ > 0 ? classes_ : most_classes;
    const auto bad = labels.lt(0).logical_or(labels.ge(most)).nonzero();
    if (bad.size(0) > 0) {
      const auto first = bad[0][0].item<int64_t>();
      refuse("record {} has label {}, outside 0..{}", first, labels[first].item<int64_t>(),
             most - 1);
    }
    if (classes_ > 0) return classes_;
    return y.dim() == 2 && y.size(1) > 1 ? y.size(1) : labels.max().item<int64_t>() + 1;
  }

  std::string path_, x_, y_;
  int64_t classes_;
};

IMPRINT_DATASET(Npz, "npz", "your own records, two arrays of a NumPy .npz file", "yours");

}  // namespace
}  // namespace imprint::npz
