#include "framework/training/initialise.h"
#include "framework/training/model.h"

namespace imprint::wide_resnet {
namespace {

/// Norm and rectifier before each of two 3x3 convolutions, and a shortcut round them; where the
/// shape changes the shortcut is a 1x1 convolution of the rectified input.
class Block final : public Layer {
 public:
  Block(int64_t inputs, int64_t outputs, int64_t stride, const std::string& norm)
      : bn1_(make_norm(norm, inputs)), bn2_(make_norm(norm, outputs)) {
    const auto conv = [&](const char* name, int64_t channels, Conv2d::Window window) {
      return register_module(name,
                             std::make_shared<Conv2d>(channels, outputs, window, norm == "none"));
    };
    if (bn1_) register_module("bn1", bn1_);
    conv1_ = conv("conv1", inputs, {3, stride, 1});
    if (bn2_) register_module("bn2", bn2_);
    conv2_ = conv("conv2", outputs, {3, 1, 1});
    if (stride != 1 || inputs != outputs) shortcut_ = conv("shortcut", inputs, {1, stride});
  }

  Tensor forward(const Tensor& x) override {
    const auto active = rectified(bn1_, x);
    const auto value = conv2_->forward(rectified(bn2_, conv1_->forward(active)));
    return value + (shortcut_ ? shortcut_->forward(active) : x);
  }

 private:
  std::shared_ptr<Layer> bn1_, bn2_;
  std::shared_ptr<Conv2d> conv1_, conv2_, shortcut_;
};

/// Wide residual networks for CIFAR: a 3x3 stem of 16 channels, three stages of (depth - 4) / 6
/// blocks of 16, 32 and 64 times `width` channels. Of dropout there is only what a defense puts
/// before the last layer.
///
/// Keys: depth (28), width (2), norm (batch | group | none).
class WideResNet final : public Model {
 public:
  WideResNet(Keys keys, const Shape& shape) {
    const int64_t depth = keys.integer("depth", 28).at_least(10).doc("6 n + 4, for n blocks");
    if ((depth - 4) % 6 != 0)
      keys.problem(
          "depth",
          fmt::format("depth must be 6 n + 4 (10, 16, 22, 28, 34, 40, ...), not {}", depth));
    const int64_t width =
        keys.integer("width", 2).at_least(1).doc("times the channels of a residual network");
    const auto norm = norm_key(keys);
    const auto channels = image_channels("wide_resnet", shape.input);
    conv1_ = register_module(
        "conv1", std::make_shared<Conv2d>(channels, 16, Conv2d::Window{3, 1, 1}, norm == "none"));
    add_stages((depth - 4) / 6, width, norm);
    bn1_ = make_norm(norm, 64 * width);
    if (bn1_) register_module("bn1", bn1_);
    dropout_ = register_module("dropout", std::make_shared<Dropout>(shape.dropout));
    fc_ = register_module("fc", std::make_shared<Linear>(64 * width, shape.outputs));
    initialise_convolutions(*this);
    const torch::NoGradGuard no_grad;
    fc_->bias.zero_();
  }

  Tensor forward(const Tensor& x) override {
    auto value = conv1_->forward(x);
    for (const auto& stage : stages_) value = stage->forward(value);
    return fc_->forward(dropout_->forward(pooled(rectified(bn1_, value))));
  }

 private:
  void add_stages(int64_t blocks, int64_t width, const std::string& norm) {
    int64_t inputs = 16;
    for (int64_t i = 0; i < 3; ++i) {
      const auto outputs = (16 << i) * width;
      const auto stage = std::make_shared<Sequence>();
      for (int64_t j = 0; j < blocks; ++j, inputs = outputs)
        stage->add(std::to_string(j),
                   std::make_shared<Block>(inputs, outputs, i > 0 && j == 0 ? 2 : 1, norm));
      stages_.push_back(register_module("layer" + std::to_string(i + 1), stage));
    }
  }

  std::shared_ptr<Conv2d> conv1_;
  std::vector<std::shared_ptr<Sequence>> stages_;
  std::shared_ptr<Layer> bn1_;
  std::shared_ptr<Dropout> dropout_;
  std::shared_ptr<Linear> fc_;
};

IMPRINT_MODEL(WideResNet, "wide_resnet", "wide residual network, norms before convolutions",
              "Zagoruyko and Komodakis, BMVC 2016");

}  // namespace
}  // namespace imprint::wide_resnet
