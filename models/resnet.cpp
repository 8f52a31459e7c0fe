#include "framework/training/initialise.h"
#include "framework/training/model.h"

namespace imprint::resnet {
namespace {

/// Two 3x3 convolutions, or for depth 50 a bottleneck of 1x1, 3x3 and 1x1 with four times the width
/// and the stride in the 3x3, and a shortcut round them.
class Block final : public Layer {
 public:
  Block(int64_t inputs, int64_t width, int64_t stride, bool bottleneck, const std::string& norm) {
    const auto outputs = bottleneck ? 4 * width : width;
    if (bottleneck) add(inputs, width, {1}, norm);
    add(bottleneck ? width : inputs, width, {3, stride, 1}, norm);
    if (bottleneck)
      add(width, outputs, {1}, norm);
    else
      add(width, width, {3, 1, 1}, norm);
    if (stride == 1 && inputs == outputs) return;
    downsample_ = register_module("downsample", std::make_shared<Sequence>());
    downsample_
        ->add("0",
              std::make_shared<Conv2d>(inputs, outputs, Conv2d::Window{1, stride}, norm == "none"))
        .add("1", make_norm(norm, outputs));
  }

  Tensor forward(const Tensor& x) override {
    auto value = x;
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (i > 0) value = rectified(value);
      value = normed(steps_[i].norm, steps_[i].conv->forward(value));
    }
    return rectified(value + (downsample_ ? downsample_->forward(x) : x));
  }

 private:
  struct Step {
    std::shared_ptr<Conv2d> conv;
    std::shared_ptr<Layer> norm;
  };

  void add(int64_t inputs, int64_t outputs, Conv2d::Window window, const std::string& norm) {
    const auto number = std::to_string(steps_.size() + 1);
    auto conv = register_module("conv" + number,
                                std::make_shared<Conv2d>(inputs, outputs, window, norm == "none"));
    auto after = make_norm(norm, outputs);
    if (after) register_module("bn" + number, after);
    steps_.push_back({std::move(conv), std::move(after)});
  }

  std::vector<Step> steps_;
  std::shared_ptr<Sequence> downsample_;
};

struct Design {
  std::vector<int64_t> blocks;  ///< of each stage, whose width is twice the one before
  int64_t width;                ///< of the stem and the first stage
  bool bottleneck;
};

Design design_of(const std::string& depth) {
  if (depth == "18") return {{2, 2, 2, 2}, 64, false};
  if (depth == "34") return {{3, 4, 6, 3}, 64, false};
  if (depth == "50") return {{3, 4, 6, 3}, 64, true};
  return {{3, 3, 3}, 16, false};
}

/// Residual networks. Depth 18, 34 and 50 are torchvision's, parameters named as there; 20 is the
/// one for CIFAR (He et al., Section 4.2) with convolutions in its shortcuts, as RelaxLoss uses it.
///
/// Keys: depth (20 | 18 | 34 | 50), stem (auto | cifar | imagenet), norm (batch | group | none).
class ResNet final : public Model {
 public:
  ResNet(Keys keys, const Shape& shape) {
    const std::string depth =
        keys.choice("depth", {"20", "18", "34", "50"}).doc("layers with weights");
    const std::string stem = keys.choice("stem", {"auto", "cifar", "imagenet"})
                                 .doc(
                                     "cifar: 3x3; imagenet: 7x7 with stride 2, then a 3x3 maximum "
                                     "with stride 2; auto: cifar for depth 20, else imagenet");
    const auto norm = norm_key(keys);
    const auto design = design_of(depth);
    const auto channels = image_channels("resnet", shape.input);
    imagenet_ = stem == "imagenet" || (stem == "auto" && depth != "20");
    const auto window = imagenet_ ? Conv2d::Window{7, 2, 3} : Conv2d::Window{3, 1, 1};
    conv1_ = register_module(
        "conv1", std::make_shared<Conv2d>(channels, design.width, window, norm == "none"));
    bn1_ = make_norm(norm, design.width);
    if (bn1_) register_module("bn1", bn1_);
    const auto outputs = add_stages(design, norm);
    dropout_ = register_module("dropout", std::make_shared<Dropout>(shape.dropout));
    fc_ = register_module("fc", std::make_shared<Linear>(outputs, shape.outputs));
    initialise_convolutions(*this);
  }

  Tensor forward(const Tensor& x) override {
    auto value = rectified(bn1_, conv1_->forward(x));
    if (imagenet_) value = torch::max_pool2d(value, 3, 2, 1);
    for (const auto& stage : stages_) value = stage->forward(value);
    return fc_->forward(dropout_->forward(pooled(value)));
  }

 private:
  int64_t add_stages(const Design& design, const std::string& norm) {
    auto inputs = design.width, width = design.width;
    for (const auto blocks : design.blocks) {
      const auto stage = std::make_shared<Sequence>();
      for (int64_t i = 0; i < blocks; ++i) {
        const int64_t stride = i == 0 && !stages_.empty() ? 2 : 1;
        stage->add(std::to_string(i),
                   std::make_shared<Block>(inputs, width, stride, design.bottleneck, norm));
        inputs = design.bottleneck ? 4 * width : width;
      }
      stages_.push_back(register_module("layer" + std::to_string(stages_.size() + 1), stage));
      width *= 2;
    }
    return inputs;
  }

  bool imagenet_ = false;
  std::shared_ptr<Conv2d> conv1_;
  std::shared_ptr<Layer> bn1_;
  std::vector<std::shared_ptr<Sequence>> stages_;
  std::shared_ptr<Dropout> dropout_;
  std::shared_ptr<Linear> fc_;
};

IMPRINT_MODEL(ResNet, "resnet", "residual network of 20, 18, 34 or 50 layers",
              "He et al., CVPR 2016; depth 20 as Chen et al., ICLR 2022 (RelaxLoss)");

}  // namespace
}  // namespace imprint::resnet
