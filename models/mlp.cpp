#include "framework/training/initialise.h"
#include "framework/training/model.h"

namespace imprint::mlp {
namespace {

/// Fully connected layers with an activation after each but the last. With hidden 1024, 512, 256,
/// 128 and tanh it is the network of the CCL paper for Purchase100 and Texas100.
///
/// With `homogeneous` only the first layer has a bias, so that a relu network of L layers is
/// homogeneous of degree L in its parameters (Haim et al. 2022: hidden [1000, 1000], init haim).
///
/// Keys: hidden ([256]), activation (relu | tanh), homogeneous (false), init (torch | haim |
/// gauss), scale. Dropout, if a defense asks for it, stands before the last layer.
class Mlp final : public Model {
 public:
  Mlp(Keys keys, const Shape& shape)
      : tanh_(keys.choice("activation", {"relu", "tanh"}).doc("after each hidden layer").get() ==
              "tanh") {
    const std::vector<int64_t> hidden =
        keys.integers("hidden", {256}).at_least(1).doc("widths of the hidden layers");
    homogeneous_ = keys.flag("homogeneous", false).doc("a bias in the first layer only");
    if (homogeneous_ && tanh_)
      keys.problem("homogeneous", "homogeneous needs activation: relu, tanh is not homogeneous");
    const Initialisation initialise(keys);
    int64_t inputs = shape.features();
    for (const auto outputs : hidden) {
      add(inputs, outputs);
      inputs = outputs;
    }
    if (shape.dropout > 0)
      dropout_ = register_module("dropout", std::make_shared<Dropout>(shape.dropout));
    add(inputs, shape.outputs);
    initialise(layers_);
  }

  Tensor forward(const Tensor& x) override {
    auto hidden = x.flatten(1);
    for (size_t i = 0; i + 1 < layers_.size(); ++i) {
      hidden = layers_[i]->forward(hidden);
      hidden = tanh_ ? hidden.tanh() : hidden.relu();
    }
    if (dropout_) hidden = dropout_->forward(hidden);
    return layers_.back()->forward(hidden);
  }

 private:
  void add(int64_t inputs, int64_t outputs) {
    const auto name = "layer" + std::to_string(layers_.size());
    const bool bias = layers_.empty() || !homogeneous_;
    layers_.push_back(register_module(name, std::make_shared<Linear>(inputs, outputs, bias)));
  }

  bool tanh_, homogeneous_ = false;
  std::vector<std::shared_ptr<Linear>> layers_;
  std::shared_ptr<Dropout> dropout_;
};

IMPRINT_MODEL(Mlp, "mlp", "fully connected layers, any depth, relu or tanh",
              "Liu et al., ICML 2024, Section 5.1 (Purchase100 and Texas100)");

}  // namespace
}  // namespace imprint::mlp
