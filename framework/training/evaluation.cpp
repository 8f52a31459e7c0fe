#include "framework/training/evaluation.h"

namespace imprint {
namespace {

constexpr int64_t query_batch = 512;

}  // namespace

Tensor queried_logits(Model& model, const Chain& chain, const Records& x, torch::ScalarType type,
                      const torch::Device& device) {
  const torch::NoGradGuard no_grad;
  const bool was_training = model.is_training();
  model.eval();
  // One tensor for all, since small ones left between large ones would break up the heap.
  Tensor all;
  for (int64_t at = 0; at < x.size(); at += query_batch) {
    const auto records = as_input(x.rows(at, std::min(at + query_batch, x.size())), type, device);
    const auto logits = class_logits(model.forward(chain.query(records)));
    if (!all.defined())
      all = torch::empty({x.size(), logits.size(1)}, logits.options().device(torch::kCPU));
    all.slice(0, at, at + records.size(0)).copy_(logits);
  }
  model.train(was_training);
  return all;
}

double accuracy(const Tensor& logits, const Tensor& y) {
  return logits.argmax(1).eq(y).to(torch::kDouble).mean().item<double>();
}

const Tensor& Evaluation::cached(Tensor& logits, const Dataset& piece) {
  if (!logits.defined()) logits = queried_logits(model_, chain_, piece.x, type_, device_);
  return logits;
}

}  // namespace imprint
