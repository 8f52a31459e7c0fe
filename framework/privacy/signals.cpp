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

constexpr double most_log_odds = 1e4;   // of logits, which may be any numbers
constexpr double most_log_answer = 37;  // of probabilities: below e^-37 a double has no place
constexpr int64_t answer_block = 8192;  // a multiple of the batches that models are asked in

Tensor zeros_of(torch::ScalarType type) { return torch::zeros({0}, type); }

}  // namespace

Tensor exact_log_softmax(const Tensor& logits) {
  const auto z = logits.to(torch::kDouble);
  const auto [top, rest] = top_and_rest(z);
  const auto top_z = z.gather(1, top);
  // log(1 + e^d) for d <= log(classes): log1p keeps the tiny values.
  const auto excess = (rest - top_z).exp().log1p();
  return (z - top_z - excess).scatter(1, top, -excess);
}

Tensor log_p_of(const Answers& answers) {
  return answers.log_p.defined() ? answers.log_p.to(torch::kDouble)
                                 : exact_log_softmax(answers.logits);
}

Columns columns_of(const Answers& answers, const Tensor& y) {
  const auto& values = answers.logits.defined() ? answers.logits : answers.log_p;
  std::vector<Tensor> labels{zeros_of(torch::kLong)}, logs{zeros_of(torch::kDouble)},
      odds{zeros_of(torch::kDouble)};
  const double most = answers.logits.defined() ? most_log_odds : most_log_answer;
  // A block at a time stays in the cache.
  for (int64_t at = 0; at < values.size(0); at += answer_block) {
    const auto z = values.slice(0, at, at + answer_block).to(torch::kDouble);
    const auto label = y.slice(0, at, at + answer_block).unsqueeze(1);
    const auto own = z.gather(1, label);
    const auto rest =
        z.scatter(1, label, -std::numeric_limits<double>::infinity()).logsumexp(1, true);
    // Infinite logits leave a NaN: such a model is broken.
    const auto phi = (own - rest).clamp(-most, most);
    labels.push_back(z.argmax(1));
    odds.push_back(phi.squeeze(1));
    // Of logits, log p_y = -log(1 + e^-phi).
    const auto log_p = -((-phi).clamp_min(0) + (-phi.abs()).exp().log1p());
    logs.push_back((answers.logits.defined() ? log_p : own.clamp_min(-most)).squeeze(1));
  }
  return {torch::cat(labels), torch::cat(logs), torch::cat(odds)};
}

Answers Service::ask(const Records& x, const Transform& transform) {
  if (transform.identity()) return answered(x);
  // As many records at a time as whole batches hold, so that the bits are those of all at once.
  std::vector<Tensor> logits, log_p;
  for (int64_t at = 0; at < x.size(); at += answer_block) {
    const auto part = answered(transform(x.rows(at, std::min(at + answer_block, x.size()))));
    logits.push_back(part.logits);
    log_p.push_back(part.log_p);
  }
  if (logits.empty()) return answered(x);
  return logits.front().defined() ? Answers{torch::cat(logits), {}}
                                  : Answers{{}, torch::cat(log_p)};
}

Answers Service::answered(const Records& x) {
  const auto logits = queried_logits(*model_, chain_, x, type_, device_);
  if (!chain_.overrides("output")) return {logits, {}};
  return {{}, chain_.output(exact_log_softmax(logits), content_seeds(x))};
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
