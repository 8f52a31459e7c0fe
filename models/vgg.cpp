#include "framework/training/initialise.h"
#include "framework/training/model.h"

namespace imprint::vgg {
namespace {

constexpr int64_t halving = 0;

// Channels of the convolutions, and where height and width are halved.
std::vector<int64_t> plan_of(const std::string& depth) {
  const auto repeats = depth == "11"   ? std::vector<int64_t>{1, 1, 2, 2, 2}
                       : depth == "13" ? std::vector<int64_t>{2, 2, 2, 2, 2}
                       : depth == "16" ? std::vector<int64_t>{2, 2, 3, 3, 3}
                                       : std::vector<int64_t>{2, 2, 4, 4, 4};
  std::vector<int64_t> plan;
  int64_t channels = 64;
  for (const auto times : repeats) {
    plan.insert(plan.end(), static_cast<size_t>(times), channels);
    plan.push_back(halving);
    channels = std::min<int64_t>(2 * channels, 512);
  }
  return plan;
}

// A map of a single place stays as it is, so that images below 32 x 32 reach the end.
Tensor halved(const Tensor& x) {
  return x.size(2) < 2 || x.size(3) < 2 ? x : torch::max_pool2d(x, 2);
}

/// VGG with one fully connected layer on the mean over places, as RelaxLoss uses it on CIFAR.
/// Parameters of the convolutions are named as in torchvision's vgg11_bn and its kin.
///
/// Keys: depth (11 | 13 | 16 | 19), norm (batch | group | none).
class Vgg final : public Model {
 public:
  Vgg(Keys keys, const Shape& shape) {
    const std::string depth = keys.choice("depth", {"11", "13", "16", "19"})
                                  .doc(
                                      "layers with weights in the original, which had three "
                                      "fully connected ones");
    const auto norm = norm_key(keys);
    auto inputs = image_channels("vgg", shape.input);
    for (const auto channels : plan_of(depth)) {
      if (channels == halving) {
        add(std::make_shared<Apply>(halved));
        continue;
      }
      add(std::make_shared<Conv2d>(inputs, channels, Conv2d::Window{3, 1, 1}));
      if (const auto after = make_norm(norm, channels)) add(after);
      add(std::make_shared<Apply>([](const Tensor& x) { return rectified(x); }));
      inputs = channels;
    }
    register_module("features", features_);
    dropout_ = register_module("dropout", std::make_shared<Dropout>(shape.dropout));
    classifier_ = register_module("classifier", std::make_shared<Linear>(inputs, shape.outputs));
    initialise_convolutions(*this);
    const torch::NoGradGuard no_grad;
    classifier_->weight.normal_(0, 0.01);
    classifier_->bias.zero_();
  }

  Tensor forward(const Tensor& x) override {
    return classifier_->forward(dropout_->forward(pooled(features_->forward(x))));
  }

 private:
  void add(const std::shared_ptr<Layer>& layer) { features_->add(std::to_string(slots_++), layer); }

  int slots_ = 0;
  std::shared_ptr<Sequence> features_ = std::make_shared<Sequence>();
  std::shared_ptr<Dropout> dropout_;
  std::shared_ptr<Linear> classifier_;
};

IMPRINT_MODEL(Vgg, "vgg", "plain convolutional network of 11 to 19 layers",
              "Simonyan and Zisserman, ICLR 2015; as Chen et al., ICLR 2022 (RelaxLoss)");

}  // namespace
}  // namespace imprint::vgg
