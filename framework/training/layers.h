#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "framework/config/keys.h"
#include "framework/training/tape.h"

namespace imprint {

/// A fully connected layer with PyTorch's default initialisation, U(+-1/sqrt(inputs)).
class Linear final : public Layer {
 public:
  Linear(int64_t inputs, int64_t outputs, bool with_bias = true);
  Tensor forward(const Tensor& x) override;
  Tensor squared_norms(const Tensor& input, const Tensor& back) const override;
  Tensor absolute_sums(const Tensor& input, const Tensor& back) const override;
  Tensor gram(const Tensor& input, const Tensor& back) const override;
  void set_gradients(const Tensor& input, const Tensor& back, const Tensor& weights) override;

  Tensor weight, bias;  ///< [outputs, inputs]; [outputs], undefined without a bias
};

/// A square convolution with PyTorch's default initialisation, U(+-1/sqrt(inputs * size^2)). Works
/// in channels-last order, for which the kernels are faster; its weights stay in plain order, as
/// fused optimizers expect them.
class Conv2d final : public Layer {
 public:
  struct Window {
    int64_t size = 3, stride = 1, padding = 0;
  };
  Conv2d(int64_t inputs, int64_t outputs, Window window, bool with_bias = true);
  Tensor forward(const Tensor& x) override;
  Tensor squared_norms(const Tensor& input, const Tensor& back) const override;
  Tensor absolute_sums(const Tensor& input, const Tensor& back) const override;
  Tensor gram(const Tensor& input, const Tensor& back) const override;
  void set_gradients(const Tensor& input, const Tensor& back, const Tensor& weights) override;

  Tensor weight, bias;  ///< [outputs, inputs, size, size]; [outputs] or undefined

  /// Per-record gradients are formed a few records or channels at a time, so that no temporary
  /// holds more numbers than this (or one record's).
  static inline int64_t most_numbers = int64_t{1} << 25;

 private:
  Tensor patches(const Tensor& input) const;  ///< [n, inputs size^2, places]
  /// [n, channels inputs size^2]: each record's gradient of the weights of some output channels,
  /// whose part of `back` is `part` [n, channels, places].
  Tensor gradients(const Tensor& input, const Tensor& part) const;

  Window window_;
};

/// A normalisation with a scale and a shift per channel.
class Norm : public Layer {
 public:
  explicit Norm(int64_t channels);
  Tensor squared_norms(const Tensor& input, const Tensor& back) const override;
  Tensor absolute_sums(const Tensor& input, const Tensor& back) const override;
  Tensor gram(const Tensor& input, const Tensor& back) const override;
  void set_gradients(const Tensor& input, const Tensor& back, const Tensor& weights) override;

  Tensor weight, bias;  ///< [channels]

 protected:
  /// The input normalised, before scale and shift.
  virtual Tensor normalised(const Tensor& input) const = 0;

 private:
  /// [n, 2 channels]: each record's gradient of weight and bias.
  Tensor gradients(const Tensor& input, const Tensor& back) const;
};

/// Batch normalisation. While training it mixes the records of a batch, so that no record has a
/// gradient of its own: per-record gradients are refused then. A batch with a single value per
/// channel, whose variance nobody knows, is normalised as in evaluation and changes no statistics.
class BatchNorm2d final : public Norm {
 public:
  explicit BatchNorm2d(int64_t channels);
  Tensor forward(const Tensor& x) override;

  Tensor running_mean, running_var, num_batches_tracked;  ///< buffers named as PyTorch names them

 protected:
  Tensor normalised(const Tensor& input) const override;
};

/// Group normalisation with gcd(32, channels) groups, the usual stand-in for batch normalisation
/// under DP-SGD.
class GroupNorm final : public Norm {
 public:
  explicit GroupNorm(int64_t channels);
  Tensor forward(const Tensor& x) override;

 protected:
  Tensor normalised(const Tensor& input) const override;

 private:
  int64_t groups_;
};

/// Zeroes each input with probability `rate` while training, scaling the rest.
class Dropout final : public Layer {
 public:
  explicit Dropout(double rate) : rate_(rate) {}
  Tensor forward(const Tensor& x) override { return torch::dropout(x, rate_, is_training()); }

 private:
  double rate_;
};

/// A function as a layer, for sequences.
class Apply final : public Layer {
 public:
  explicit Apply(std::function<Tensor(const Tensor&)> function) : function_(std::move(function)) {}
  Tensor forward(const Tensor& x) override { return function_(x); }

 private:
  std::function<Tensor(const Tensor&)> function_;
};

/// Layers run one after the other, each under the name it was added with.
class Sequence final : public Layer {
 public:
  /// A null layer (such as no norm) is left out.
  Sequence& add(const std::string& name, const std::shared_ptr<Layer>& layer);
  Tensor forward(const Tensor& x) override;
  bool empty() const { return layers_.empty(); }

 private:
  std::vector<std::shared_ptr<Layer>> layers_;
};

/// Rectified `x`, done in place where autograd and the tape allow it: only for an `x` that nobody
/// else looks at, such as the output of a norm, a convolution or a sum.
Tensor rectified(const Tensor& x);
/// Rectified norm(x), or rectified x where `norm` is null; leaves `x` as it is.
Tensor rectified(const std::shared_ptr<Layer>& norm, const Tensor& x);
/// norm(x), or x itself where `norm` is null.
Tensor normed(const std::shared_ptr<Layer>& norm, const Tensor& x);
/// [n, channels]: the mean over all places.
Tensor pooled(const Tensor& x);

/// The key `norm` of a convolutional model, batch, group or none; `usual` is the default.
std::string norm_key(Keys& keys, const std::string& usual = "batch");
/// A norm of that kind; null for none, when convolutions have a bias instead.
std::shared_ptr<Layer> make_norm(const std::string& kind, int64_t channels);

/// The channels of records of shape `input`, for the model of that name; throws ConfigError unless
/// they are images [channels, height, width].
int64_t image_channels(const std::string& model, const std::vector<int64_t>& input);

}  // namespace imprint
