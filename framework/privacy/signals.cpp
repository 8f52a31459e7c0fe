#include "framework/privacy/signals.h"

#include <limits>

namespace imprint {
namespace {

// [n, 1] index of the largest entry, and log of the sum of the exponentials of all others.
std::pair<Tensor, Tensor> top_and_rest(const Tensor& z) {
  const auto top = z.argmax(1, true);
  const auto others = z.scatter(1, top, -std::numeric_limits<double>::infinity());
  return {top, others.logsumexp(1, true)};
}

// [n] numbers that depend on nothing but the contents of each row.
Tensor content_seeds(const Records& x) {
  const auto weights = torch::randint(std::numeric_limits<int64_t>::max(),
                                      {x.numel() / std::max<int64_t>(x.size(), 1)},
                                      Stream(0).at("content").generator(), torch::kLong);
  constexpr int64_t chunk = 4096;
  std::vector<Tensor> seeds;
  for (int64_t at = 0; at < x.size(); at += chunk) {
    const auto rows = x.rows(at, std::min(at + chunk, x.size())).flatten(1).to(torch::kFloat32);
    seeds.push_back((rows.contiguous().view(torch::kInt32).to(torch::kLong) * weights).sum(1));
  }
  return torch::cat(seeds);
}

}  // namespace

Tensor exact_log_softmax(const Tensor& logits) {
  const auto z = logits.to(torch::kDouble);
  const auto [top, rest] = top_and_rest(z);
  const auto top_z = z.gather(1, top);
  // log(1 + e^d) for d <= log(classes): log1p keeps the tiny values.
  const auto excess = (rest - top_z).exp().log1p();
  return (z - top_z - excess).scatter(1, top, -excess);
}

Answers answers_from(const Tensor& logits, const Tensor& log_p) {
  return {logits, log_p.defined() ? log_p.to(torch::kDouble) : exact_log_softmax(logits)};
}

Answers ask(Model& model, const Chain& chain, const Records& x, torch::ScalarType type,
            const torch::Device& device) {
  const auto logits = queried_logits(model, chain, x, type, device);
  if (!chain.overrides("output")) return answers_from(logits, {});
  return {{}, chain.output(exact_log_softmax(logits), content_seeds(x))};
}

Tensor true_log_p(const Tensor& log_p, const Tensor& y) {
  return log_p.gather(1, y.unsqueeze(1)).squeeze(1);
}

Tensor entropy_of(const Tensor& log_p) {
  // 0 log 0 = 0, also for the -infinity that an output defense may return.
  const auto p = log_p.exp();
  return -torch::where(p > 0, p * log_p, torch::zeros_like(p)).sum(1);
}

Tensor modified_entropy_of(const Tensor& log_p, const Tensor& y) {
  const auto p = log_p.exp();
  const auto [top, rest] = top_and_rest(log_p);
  const auto log_not_p = (-p).log1p().scatter(1, top, rest);
  const auto wrong = torch::where(p > 0, p * log_not_p, torch::zeros_like(p));
  const auto label = y.unsqueeze(1);
  const auto right = log_not_p.gather(1, label).exp() * log_p.gather(1, label);
  return -(wrong.scatter(1, label, 0.0).sum(1) + right.squeeze(1));
}

}  // namespace imprint
