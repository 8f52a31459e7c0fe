#include "framework/privacy/pattern_table.h"

namespace imprint {

PatternTable::PatternTable(const Tensor& patterns, const Tensor& member, int64_t kinds) {
  const auto shares = [&](const Tensor& of) {
    const auto counts = patterns.masked_select(of).bincount({}, kinds).to(torch::kDouble) + 1;
    return counts / counts.sum();
  };
  const auto in = shares(member), out = shares(member.logical_not());
  const auto seen = patterns.bincount({}, kinds) > 0;
  odds_ = torch::where(seen, (in / out).log(), torch::zeros_like(in));
}

}  // namespace imprint
