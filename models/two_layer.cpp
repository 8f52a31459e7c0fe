#include "framework/training/initialise.h"
#include "framework/training/model.h"

namespace imprint::two_layer {
namespace {

/// phi(x) = sum_j v_j [w_j . x + b_j]_+ without output bias: homogeneous of degree 2 in its
/// parameters, as the theory of implicit bias towards margins needs it. Its gradient is known in
/// closed form, so training needs no autograd.
///
/// Keys: width (100), bias (true), init (torch | haim | gauss), scale.
class TwoLayer final : public Model {
 public:
  TwoLayer(Keys keys, const Shape& shape) : dropout_(std::make_shared<Dropout>(shape.dropout)) {
    const int64_t width = keys.integer("width", 100).at_least(1).doc("number of hidden neurons");
    const bool bias = keys.flag("bias", true).doc("of the hidden neurons; the output has none");
    const Initialisation initialise(keys);
    first_ = register_module("layer0", std::make_shared<Linear>(shape.features(), width, bias));
    last_ = register_module("layer1", std::make_shared<Linear>(width, shape.outputs, false));
    register_module("dropout", dropout_);
    initialise({first_, last_});
    closed_form_ = shape.dropout == 0;
  }

  Tensor forward(const Tensor& x) override {
    const auto hidden = rectified(first_->forward(x.flatten(1)));
    if (!hidden.requires_grad()) {
      input_ = x;
      hidden_ = hidden;
    }
    return last_->forward(dropout_->forward(hidden));
  }

  bool has_closed_form() const override { return closed_form_; }

  // With r the rectified hidden values: dL/dV = slope^T r, and slope V, where r > 0, is what comes
  // back to the hidden neurons. At a kink the slope is 0, as autograd has it.
  void backward(const Tensor& x, const Tensor& slope) override {
    const torch::NoGradGuard no_grad;
    // A defense's loss may have asked the network about other records since.
    if (!x.is_same(input_)) forward(x);
    const auto back = slope.mm(last_->weight).mul_(hidden_.gt(0));
    last_->weight.mutable_grad() = slope.t().mm(hidden_);
    first_->weight.mutable_grad() = back.t().mm(x.flatten(1));
    if (first_->bias.defined()) first_->bias.mutable_grad() = back.sum(0);
  }

 private:
  std::shared_ptr<Dropout> dropout_;
  std::shared_ptr<Linear> first_, last_;
  bool closed_form_;
  Tensor input_, hidden_;  ///< of the last forward without autograd
};

IMPRINT_MODEL(TwoLayer, "two_layer", "one hidden layer of rectifiers, homogeneous of degree 2",
              "Lyu and Li, ICLR 2020; initialisations of Haim et al., NeurIPS 2022");

}  // namespace
}  // namespace imprint::two_layer
