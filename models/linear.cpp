#include "framework/training/model.h"

namespace imprint::linear {
namespace {

/// One fully connected layer: multinomial logistic regression, or with one output a linear
/// classifier. Its gradient is known in closed form, so training needs no autograd.
///
/// Keys: bias (true).
class LinearModel final : public Model {
 public:
  LinearModel(Keys keys, const Shape& shape) : dropout_(shape.dropout) {
    const bool bias = keys.flag("bias", true).doc("add a bias to each output");
    layer_ =
        register_module("layer", std::make_shared<Linear>(shape.features(), shape.outputs, bias));
  }

  Tensor forward(const Tensor& x) override {
    auto flat = x.flatten(1);
    if (dropout_ > 0) flat = torch::dropout(flat, dropout_, is_training());
    return layer_->forward(flat);
  }

  bool has_closed_form() const override { return dropout_ == 0; }

  void backward(const Tensor& x, const Tensor& slope) override {
    layer_->weight.mutable_grad() = slope.t().mm(x.flatten(1));
    if (layer_->bias.defined()) layer_->bias.mutable_grad() = slope.sum(0);
  }

 private:
  double dropout_;
  std::shared_ptr<Linear> layer_;
};

IMPRINT_MODEL(LinearModel, "linear", "one fully connected layer",
              "multinomial logistic regression");

}  // namespace
}  // namespace imprint::linear
