#include "framework/training/initialise.h"
#include "framework/training/model.h"

namespace imprint::densenet {
namespace {

// Norm and rectifier stand before a convolution, not after it; `x` is also what the block passes on
// and must stay as it is.
class Step {
 public:
  Step(torch::nn::Module& owner, const std::string& suffix, const std::string& norm, int64_t inputs,
       int64_t outputs, Conv2d::Window window)
      : norm_(make_norm(norm, inputs)),
        conv_(std::make_shared<Conv2d>(inputs, outputs, window, norm == "none")) {
    if (norm_) owner.register_module("norm" + suffix, norm_);
    owner.register_module("conv" + suffix, conv_);
  }

  Tensor forward(const Tensor& x) const { return conv_->forward(rectified(norm_, x)); }

 private:
  std::shared_ptr<Layer> norm_;
  std::shared_ptr<Conv2d> conv_;
};

/// Adds `growth` channels to those it is given; with a bottleneck through 4 growth channels.
class DenseLayer final : public Layer {
 public:
  DenseLayer(int64_t inputs, int64_t growth, bool bottleneck, const std::string& norm) {
    const Conv2d::Window window{3, 1, 1};
    if (bottleneck) steps_.emplace_back(*this, "1", norm, inputs, 4 * growth, Conv2d::Window{1});
    const auto number = std::to_string(steps_.size() + 1);
    steps_.emplace_back(*this, number, norm, bottleneck ? 4 * growth : inputs, growth, window);
  }

  Tensor forward(const Tensor& x) override {
    auto value = x;
    for (const auto& step : steps_) value = step.forward(value);
    return torch::cat({x, value}, 1);
  }

 private:
  std::vector<Step> steps_;
};

/// Fewer channels, or as many, and half the height and width.
class Transition final : public Layer {
 public:
  Transition(int64_t inputs, int64_t outputs, const std::string& norm)
      : step_(*this, "", norm, inputs, outputs, {1}) {}

  Tensor forward(const Tensor& x) override {
    const auto value = step_.forward(x);
    // Small images arrive at a single place before the last transition.
    return value.size(2) < 2 || value.size(3) < 2 ? value : torch::avg_pool2d(value, 2);
  }

 private:
  Step step_;
};

/// Densely connected networks. Depth 121 is torchvision's (with bottlenecks, transitions halve the
/// channels), parameters named as there; 40 is the basic one for CIFAR (neither of both).
///
/// Keys: depth (121 | 40), stem (auto | imagenet | cifar), growth (32 for 121, 12 for 40), norm
/// (batch | group | none).
class DenseNet final : public Model {
 public:
  DenseNet(Keys keys, const Shape& shape) {
    const std::string depth = keys.choice("depth", {"121", "40"}).doc("layers with weights");
    const std::string stem = keys.choice("stem", {"auto", "imagenet", "cifar"})
                                 .doc(
                                     "imagenet: 7x7 with stride 2, norm, then a 3x3 maximum with "
                                     "stride 2; cifar: 3x3; auto: imagenet for depth 121");
    deep_ = depth == "121";
    growth_ = keys.integer("growth", deep_ ? 32 : 12)
                  .at_least(1)
                  .doc("channels each layer adds; by default 32 for depth 121, 12 for 40");
    norm_ = norm_key(keys);
    const auto channels = image_channels("densenet", shape.input);
    const int64_t width = deep_ ? 64 : 16;
    add_stem(channels, width, stem == "imagenet" || (stem == "auto" && deep_));
    const auto outputs = add_blocks(width);
    register_module("features", features_);
    dropout_ = register_module("dropout", std::make_shared<Dropout>(shape.dropout));
    classifier_ = register_module("classifier", std::make_shared<Linear>(outputs, shape.outputs));
    initialise_convolutions(*this, false);
    const torch::NoGradGuard no_grad;
    classifier_->bias.zero_();
  }

  Tensor forward(const Tensor& x) override {
    return classifier_->forward(dropout_->forward(pooled(features_->forward(x))));
  }

 private:
  void add_stem(int64_t channels, int64_t width, bool imagenet) {
    const auto window = imagenet ? Conv2d::Window{7, 2, 3} : Conv2d::Window{3, 1, 1};
    features_->add("conv0", std::make_shared<Conv2d>(channels, width, window, norm_ == "none"));
    if (!imagenet) return;
    features_->add("norm0", make_norm(norm_, width));
    features_->add("pool0", std::make_shared<Apply>([](const Tensor& x) {
                     return torch::max_pool2d(rectified(x), 3, 2, 1);
                   }));
  }

  int64_t add_blocks(int64_t width) {
    const auto blocks = deep_ ? std::vector<int64_t>{6, 12, 24, 16} : std::vector<int64_t>(3, 12);
    for (size_t i = 1; i <= blocks.size(); ++i) {
      const auto block = std::make_shared<Sequence>();
      for (int64_t j = 1; j <= blocks[i - 1]; ++j, width += growth_)
        block->add("denselayer" + std::to_string(j),
                   std::make_shared<DenseLayer>(width, growth_, deep_, norm_));
      features_->add("denseblock" + std::to_string(i), block);
      if (i == blocks.size()) break;
      const auto outputs = deep_ ? width / 2 : width;
      features_->add("transition" + std::to_string(i),
                     std::make_shared<Transition>(width, outputs, norm_));
      width = outputs;
    }
    features_->add("norm5", make_norm(norm_, width));
    features_->add("relu5", std::make_shared<Apply>([](const Tensor& x) { return rectified(x); }));
    return width;
  }

  bool deep_ = false;
  int64_t growth_ = 0;
  std::string norm_;
  std::shared_ptr<Sequence> features_ = std::make_shared<Sequence>();
  std::shared_ptr<Dropout> dropout_;
  std::shared_ptr<Linear> classifier_;
};

IMPRINT_MODEL(DenseNet, "densenet", "densely connected network of 121 or 40 layers",
              "Huang et al., CVPR 2017");

}  // namespace
}  // namespace imprint::densenet
