#include "framework/training/initialise.h"
#include "framework/training/model.h"

namespace imprint::cnn {
namespace {

/// A small convolutional network: 3x3 convolution, norm, rectifier and 2x2 maximum for each entry
/// of `channels`, then two fully connected layers with a rectifier between.
///
/// Keys: channels ([32, 64]), hidden (128), norm (none | batch | group).
class Cnn final : public Model {
 public:
  Cnn(Keys keys, const Shape& shape) {
    const std::vector<int64_t> channels = keys.integers("channels", {32, 64})
                                              .at_least(1)
                                              .doc("of the convolutions; each halves the image");
    const int64_t hidden =
        keys.integer("hidden", 128).at_least(1).doc("width of the layer before the last");
    const auto norm = norm_key(keys, "none");
    auto inputs = image_channels("cnn", shape.input);
    auto height = shape.input[1], width = shape.input[2];
    for (const auto outputs : channels) {
      add(inputs, outputs, norm);
      inputs = outputs;
      height = std::max<int64_t>(height / 2, 1);
      width = std::max<int64_t>(width / 2, 1);
    }
    fc1_ = register_module("fc1", std::make_shared<Linear>(inputs * height * width, hidden));
    dropout_ = register_module("dropout", std::make_shared<Dropout>(shape.dropout));
    fc2_ = register_module("fc2", std::make_shared<Linear>(hidden, shape.outputs));
    initialise_convolutions(*this, false);
  }

  Tensor forward(const Tensor& x) override {
    auto value = x;
    for (const auto& [conv, norm] : blocks_) {
      value = rectified(normed(norm, conv->forward(value)));
      // A side of a single place cannot be halved.
      value = torch::max_pool2d(
          value, {std::min<int64_t>(value.size(2), 2), std::min<int64_t>(value.size(3), 2)});
    }
    return fc2_->forward(dropout_->forward(rectified(fc1_->forward(value.flatten(1)))));
  }

 private:
  struct Block {
    std::shared_ptr<Conv2d> conv;
    std::shared_ptr<Layer> norm;
  };

  void add(int64_t inputs, int64_t outputs, const std::string& norm) {
    const auto number = std::to_string(blocks_.size() + 1);
    auto conv = std::make_shared<Conv2d>(inputs, outputs, Conv2d::Window{3, 1, 1}, norm == "none");
    register_module("conv" + number, conv);
    auto after = make_norm(norm, outputs);
    if (after) register_module("bn" + number, after);
    blocks_.push_back({std::move(conv), std::move(after)});
  }

  std::vector<Block> blocks_;
  std::shared_ptr<Linear> fc1_, fc2_;
  std::shared_ptr<Dropout> dropout_;
};

IMPRINT_MODEL(Cnn, "cnn", "small convolutional network, any number of convolutions",
              "LeCun et al., 1998, with rectifiers and maxima");

}  // namespace
}  // namespace imprint::cnn
