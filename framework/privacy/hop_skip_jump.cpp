#include "framework/privacy/hop_skip_jump.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace imprint {
namespace {

// Directions of one record that are drawn and asked about at a time, in numbers.
constexpr int64_t direction_block = 1 << 22;

constexpr double tiny = std::numeric_limits<float>::min();

Tensor lengths(const Tensor& vectors) {  // [..., d] -> [..., 1]
  return torch::linalg_vector_norm(vectors, 2, {-1}, true);
}

int64_t halvings(double tolerance) {
  int64_t rounds = 0;
  for (double width = 1; width > tolerance; width /= 2) ++rounds;
  return rounds;
}

// Records that advance together. A set of them, `who`, is an index [m] into their rows. Arithmetic
// is of single operations and of reductions within a record, so that no bit depends on company.
class LockStep {
 public:
  LockStep(const HopSkipJump& search, const LabelOracle& oracle, const Tensor& x, const Tensor& y,
           const Stream& stream, int64_t first_row)
      : search_(search),
        oracle_(oracle),
        stream_(stream),
        first_row_(first_row),
        shape_(x.sizes().vec()),
        x_(x.flatten(1)),
        y_(y),
        z_(x_.clone()),
        found_{torch::zeros({x.size(0)}, torch::kDouble), torch::zeros({x.size(0)}, torch::kLong),
               torch::zeros({x.size(0)}, torch::kBool)},
        bisection_(halvings(search.theta / std::sqrt(static_cast<double>(x_.size(1))))) {}

  BoundaryDistances run() {
    auto who = starts();
    bisect(who, halvings(search_.start_tolerance));
    bisect(who, bisection_);
    const auto first_reach = search_.first_reach * (search_.high - search_.low);
    auto reach = torch::full({x_.size(0), 1}, first_reach, x_.options());
    for (int64_t t = 0; t < search_.iterations; ++t) {
      auto counts = (left(who) - 1 - bisection_).clamp_max(evaluations(t));
      who = who.masked_select(counts > 0);
      counts = counts.masked_select(counts > 0);
      if (who.size(0) == 0) break;
      step(who, directions(who, counts, reach, t), t);
      reach.index_copy_(0, who, search_.theta * away(who));
      bisect(who, bisection_);
    }
    return found_;
  }

 private:
  int64_t evaluations(int64_t t) const {
    const auto wanted =
        static_cast<double>(search_.first_evaluations) * std::sqrt(static_cast<double>(t + 1));
    return std::min(static_cast<int64_t>(wanted), search_.most_evaluations);
  }

  Tensor left(const Tensor& who) const {
    return search_.queries - found_.queries.index_select(0, who);
  }

  Tensor away(const Tensor& who) const {  // [m, 1] |z - x|
    return lengths(z_.index_select(0, who) - x_.index_select(0, who));
  }

  std::vector<at::Generator> generators(const Tensor& who, const char* purpose, int64_t t) const {
    std::vector<at::Generator> all;
    const auto* rows = who.const_data_ptr<int64_t>();
    for (int64_t i = 0; i < who.size(0); ++i)
      all.push_back(stream_.at("record", first_row_ + rows[i]).at(purpose, t).generator());
    return all;
  }

  // Whether the model gives points [m, k, d] about records `who` other labels than theirs: [m, k].
  Tensor differs(const Tensor& who, const Tensor& points) {
    const auto m = points.size(0), k = points.size(1);
    auto shape = shape_;
    shape[0] = m * k;
    found_.queries.index_add_(0, who, torch::full({m}, k, torch::kLong));
    const auto labels = oracle_(points.reshape(shape)).reshape({m, k});
    return labels.ne(y_.index_select(0, who).unsqueeze(1));
  }

  // Whether points [m, d] are on the other side; those that are become the records' z.
  Tensor moved(const Tensor& who, const Tensor& points) {
    const auto there = differs(who, points.unsqueeze(1)).squeeze(1);
    const auto index = there.nonzero().squeeze(1);
    z_.index_copy_(0, who.index_select(0, index), points.index_select(0, index));
    return there;
  }

  // Finds a first z for each record that has its label; those for which there is one.
  Tensor starts() {
    const auto all = torch::arange(x_.size(0));
    const auto wrong = differs(all, x_.unsqueeze(1)).squeeze(1);
    auto who = all.masked_select(wrong.logical_not());
    found_.unreached.index_fill_(0, who, true);
    for (int64_t i = 0; i < search_.initial_tries; ++i) {
      who = who.masked_select(left(who) > 0);
      if (who.size(0) == 0) break;
      const auto points = torch::empty({who.size(0), x_.size(1)}, x_.options());
      const auto random = generators(who, "start", i);
      for (int64_t j = 0; j < who.size(0); ++j)
        points[j].uniform_(search_.low, search_.high, random[static_cast<size_t>(j)]);
      const auto there = moved(who, points);
      found_.unreached.index_fill_(0, who.masked_select(there), false);
      who = who.masked_select(there.logical_not());
    }
    const auto started = all.masked_select((wrong | found_.unreached).logical_not());
    found_.distance.index_copy_(0, started, away(started).squeeze(1).to(torch::kDouble));
    return started;
  }

  // Moves each z towards x, to within 2^-rounds of the way from where the label changes.
  void bisect(const Tensor& all, int64_t rounds) {
    const auto who = all.masked_select(left(all) >= rounds);
    if (who.size(0) == 0) return;
    const auto x = x_.index_select(0, who).unsqueeze(1), z = z_.index_select(0, who).unsqueeze(1);
    auto same = torch::zeros({who.size(0), 1, 1}, x.options()), other = torch::ones_like(same);
    for (int64_t i = 0; i < rounds; ++i) {
      const auto middle = (same + other) / 2;
      const auto there = differs(who, x * (1 - middle) + z * middle).unsqueeze(2);
      other = torch::where(there, middle, other);
      same = torch::where(there, same, middle);
    }
    z_.index_copy_(0, who, (x * (1 - other) + z * other).squeeze(1));
    const auto now = away(who).squeeze(1).to(torch::kDouble);
    found_.distance.index_copy_(0, who, now.minimum(found_.distance.index_select(0, who)));
  }

  // [m, d] directions of unit length that lead away from x's label, from counts[i] answers each.
  Tensor directions(const Tensor& who, const Tensor& counts, const Tensor& reach, int64_t t) {
    const auto found = torch::empty({who.size(0), x_.size(1)}, x_.options());
    // Records short of queries get fewer directions, and a batch of their own.
    const auto distinct = std::get<0>(at::_unique(counts, true));
    for (int64_t i = 0; i < distinct.size(0); ++i) {
      const auto count = distinct[i].item<int64_t>();
      const auto alike = counts.eq(count).nonzero().squeeze(1);
      const auto together = std::max<int64_t>(search_.chunk / (count * x_.size(1)), 1);
      for (const auto& part : alike.split(together)) {
        const auto some = who.index_select(0, part);
        found.index_copy_(0, part, direction(some, count, reach.index_select(0, some), t));
      }
    }
    return found;
  }

  Tensor direction(const Tensor& who, int64_t count, const Tensor& reach, int64_t t) {
    const auto z = z_.index_select(0, who).unsqueeze(1);
    const auto m = who.size(0), d = x_.size(1);
    const auto random = generators(who, "directions", t);
    const auto block = std::max<int64_t>(direction_block / d, 1);
    auto sum = torch::zeros({m, d}, x_.options()), weighted = torch::zeros_like(sum),
         balance = torch::zeros({m, 1}, x_.options());
    for (int64_t at = 0; at < count; at += block) {
      auto u = torch::empty({m, std::min(block, count - at), d}, x_.options());
      for (int64_t i = 0; i < m; ++i) u[i].normal_(0, 1, random[static_cast<size_t>(i)]);
      u.mul_(reach.unsqueeze(2) / lengths(u).clamp_min(tiny));
      u.add_(z).clamp_(search_.low, search_.high);
      const auto f = differs(who, u).unsqueeze(2).to(u.scalar_type()) * 2 - 1;
      // What is left of reach u within the bounds; reach itself drops out of v.
      u.sub_(z);
      sum += u.sum(1);
      weighted += u.mul_(f).sum(1);
      balance += f.sum(1);
    }
    const auto mean = balance / count;
    const auto v = torch::where(mean.abs().eq(1), weighted, weighted - mean * sum);
    return v / lengths(v).clamp_min(tiny);
  }

  // Moves each z along its v as far as the label allows, keeping enough for a bisection.
  void step(Tensor who, Tensor v, int64_t t) {
    auto length = away(who) * (2 / std::sqrt(static_cast<double>(t + 1)));
    for (;;) {
      const auto able = (left(who) > bisection_).nonzero().squeeze(1);
      if (able.size(0) == 0) return;
      who = who.index_select(0, able);
      v = v.index_select(0, able);
      length = length.index_select(0, able) / 2;
      const auto points = z_.index_select(0, who) + length * v;
      const auto stay = moved(who, points.clamp(search_.low, search_.high)).logical_not();
      const auto again = stay.nonzero().squeeze(1);
      who = who.index_select(0, again);
      v = v.index_select(0, again);
      length = length.index_select(0, again);
    }
  }

  const HopSkipJump& search_;
  const LabelOracle& oracle_;
  const Stream& stream_;
  int64_t first_row_;
  std::vector<int64_t> shape_;
  Tensor x_, y_;
  Tensor z_;  // [n, d] points on the other side; x itself where none is known
  BoundaryDistances found_;
  int64_t bisection_;
};

}  // namespace

BoundaryDistances hop_skip_jump(const HopSkipJump& search, const LabelOracle& oracle,
                                const Tensor& x, const Tensor& y, const Stream& stream) {
  TORCH_CHECK(x.numel() > 0 && x.dim() >= 2 && x.size(0) == y.size(0),
              "HopSkipJump needs records and a label for each, not ", x.sizes(), " and ",
              y.sizes());
  TORCH_CHECK(search.queries >= 1, "HopSkipJump needs a query for each record, not ",
              search.queries);
  TORCH_CHECK(x.isfinite().all().item<bool>(),
              "HopSkipJump needs records of finite numbers; these have infinite ones or NaN");
  const auto together = std::max<int64_t>(search.chunk / (x.numel() / x.size(0)), 1);
  std::vector<Tensor> distance, queries, unreached;
  for (int64_t at = 0; at < x.size(0); at += together) {
    auto part = LockStep(search, oracle, x.slice(0, at, at + together),
                         y.slice(0, at, at + together), stream, at)
                    .run();
    distance.push_back(part.distance);
    queries.push_back(part.queries);
    unreached.push_back(part.unreached);
  }
  return {torch::cat(distance), torch::cat(queries), torch::cat(unreached)};
}

}  // namespace imprint
