#include "framework/reports/attack_result.h"

#include <algorithm>

#include "framework/privacy/agreement.h"
#include "framework/privacy/audit.h"

namespace imprint {
namespace {

constexpr size_t roc_points = 200;

// Some of an attack's candidates: scores and who is a member.
struct Part {
  std::vector<double> scores;
  std::vector<uint8_t> members;
};

}  // namespace

std::vector<uint8_t> bytes_of(const Tensor& flags) {
  const auto bytes = flags.to(torch::kUInt8).contiguous();
  return {bytes.const_data_ptr<uint8_t>(), bytes.const_data_ptr<uint8_t>() + bytes.numel()};
}

std::vector<double> doubles_of(const Tensor& tensor) {
  const auto values = tensor.to(torch::kDouble).contiguous();
  return {values.const_data_ptr<double>(), values.const_data_ptr<double>() + values.numel()};
}

std::vector<int64_t> integers_of(const Tensor& tensor) {
  const auto values = tensor.to(torch::kLong).contiguous();
  return {values.const_data_ptr<int64_t>(), values.const_data_ptr<int64_t>() + values.numel()};
}

Scored scored(const Tensors& tensors, const Candidates& all, const AuditChoice& audit,
              uint64_t seed) {
  const auto attacked = tensors.at("scored") & all.natural;
  const auto kept = [&](const Tensor& each) { return each.masked_select(attacked); };
  const Part part{doubles_of(kept(tensors.at("scores"))), bytes_of(kept(all.member))};
  const bool decided = tensors.contains("decisions");
  const auto decisions = decided ? tensors.at("decisions") : torch::zeros_like(attacked);
  Scored found;
  found.decisions = bytes_of(decisions.masked_select(all.natural));
  found.scored = bytes_of(attacked.masked_select(all.natural));
  auto& result = found.result;
  result.score = score(part.scores, decided ? bytes_of(kept(decisions)) : std::vector<uint8_t>{},
                       part.members);
  result.roc = thinned(roc(part.scores, part.members), roc_points);
  result.epsilon_low = epsilon_low(part.scores, part.members, audit.delta, seed);
  const auto records = integers_of(kept(all.record));
  const auto flags = flagged(part.scores, part.members, audit.fpr);
  for (size_t i = 0; i < flags.size(); ++i)
    if (flags[i] != 0) result.flagged.push_back(records[i]);
  return found;
}

std::vector<MetricResult> canary_metrics(const std::string& attack, const Tensors& tensors,
                                         const Candidates& all, const AuditChoice& audit,
                                         uint64_t seed) {
  std::vector<MetricResult> metrics;
  const auto kept = tensors.at("scored") & (all.natural | all.tuning).logical_not();
  const Part part{doubles_of(tensors.at("scores").masked_select(kept)),
                  bytes_of(all.member.masked_select(kept))};
  const auto in = std::count(part.members.begin(), part.members.end(), 1);
  const auto count = static_cast<int64_t>(part.members.size());
  if (in == 0 || in == count) return metrics;
  const auto area = auc(part.scores, part.members);
  const auto interval = auc_interval(area.value, area.variance, in, count - in);
  const auto once = one_run_audit(part.scores, part.members, audit.delta);
  const auto add = [&](const std::string& name, double value, std::optional<Interval> ends = {}) {
    metrics.push_back({attack + "." + name, value, ends ? std::optional(ends->low) : std::nullopt,
                       ends ? std::optional(ends->high) : std::nullopt, count});
  };
  add("canary_auc", area.value, interval);
  add("canary_epsilon_low", epsilon_low(part.scores, part.members, audit.delta, seed));
  add("one_run_epsilon", once.epsilon);
  add("one_run_guesses", static_cast<double>(once.guesses));
  add("one_run_correct", static_cast<double>(once.correct));
  return metrics;
}

}  // namespace imprint
