#include "framework/privacy/p1.h"

#include <algorithm>
#include <random>
#include <stdexcept>
#include <unordered_map>
#include <vector>

namespace imprint {
namespace {

constexpr size_t kResamples = 1000;
constexpr size_t kTail = 25;  // resamples in each 2.5 % tail

/// Records that are resampled together, each a row of bits (one per attack, then `correct`). Few
/// rows differ, so a resample is held as the number of times each distinct row was drawn.
class Stratum {
 public:
  using Counts = std::vector<int64_t>;

  void add(const std::string& row) {
    const auto [found, is_new] = known_.try_emplace(row, static_cast<uint32_t>(rows_.size()));
    if (is_new) rows_.push_back(row);
    row_of_.push_back(found->second);
  }

  int64_t size() const { return static_cast<int64_t>(row_of_.size()); }

  Counts observed() const {
    Counts counts(rows_.size());
    for (const auto row : row_of_) ++counts[row];
    return counts;
  }

  /// Draws as many records as there are, with replacement. The mapping from random bits to a record
  /// is our own because std::uniform_int_distribution differs between standard libraries; its bias
  /// of size / 2^32 is far below the bootstrap's own noise.
  Counts resampled(std::mt19937_64& generator) const {
    Counts counts(rows_.size());
    const uint64_t n = row_of_.size();
    uint64_t word = 0;
    for (uint64_t i = 0; i < n; ++i, word >>= 32) {
      if (i % 2 == 0) word = generator();
      ++counts[row_of_[(word & 0xffffffff) * n >> 32]];
    }
    return counts;
  }

  /// The number of ones in each column.
  Counts sums(const Counts& counts) const {
    Counts result(rows_.front().size());
    for (size_t row = 0; row < rows_.size(); ++row) {
      for (size_t column = 0; column < result.size(); ++column) {
        result[column] += counts[row] * rows_[row][column];
      }
    }
    return result;
  }

 private:
  std::unordered_map<std::string, uint32_t> known_;
  std::vector<std::string> rows_;
  std::vector<uint32_t> row_of_;
};

/// The records of a cell. Paired test records are the last column of `non_members`, and `test` is
/// empty.
struct Strata {
  Stratum members, non_members, test;
};

struct Outcome {
  double p1 = 0;
  size_t strongest = 0;
};

void check(std::span<const NamedDecisions> attacks, std::span<const uint8_t> member,
           std::span<const uint8_t> correct, bool paired) {
  const auto refuse = [](const std::string& why) { throw std::invalid_argument(why); };
  if (attacks.empty()) refuse("P1 needs at least one attack");
  for (const auto& [attack, decisions] : attacks) {
    if (decisions.size() == member.size()) continue;
    refuse("attack " + attack + " has " + std::to_string(decisions.size()) + " decisions for " +
           std::to_string(member.size()) + " candidates");
  }
  const auto non_members = static_cast<size_t>(std::count(member.begin(), member.end(), 0));
  const auto members = member.size() - non_members;
  if (members == 0 || non_members == 0) {
    refuse("P1 needs members and non-members, but the candidates are " + std::to_string(members) +
           " members and " + std::to_string(non_members) + " non-members");
  }
  if (correct.empty()) refuse("P1 needs test records to measure accuracy on, but there are none");
  if (paired && correct.size() != non_members) {
    refuse("paired test records are the non-members, but there are " +
           std::to_string(correct.size()) + " test records and " + std::to_string(non_members) +
           " non-members");
  }
}

Strata strata_of(std::span<const NamedDecisions> attacks, std::span<const uint8_t> member,
                 std::span<const uint8_t> correct, bool paired) {
  Strata strata;
  size_t next_test = 0;
  for (size_t i = 0; i < member.size(); ++i) {
    std::string row;
    for (const auto& attack : attacks) row += attack.decisions[i] != 0 ? '\1' : '\0';
    if (member[i] != 0) {
      strata.members.add(row);
      continue;
    }
    if (paired) row += correct[next_test++] != 0 ? '\1' : '\0';
    strata.non_members.add(row);
  }
  if (paired) return strata;
  for (const auto bit : correct) strata.test.add(std::string(1, bit != 0 ? '\1' : '\0'));
  return strata;
}

/// `counts_of` tells how often each row of a stratum counts: as observed, or in one resample.
template <typename CountsOf>
Outcome outcome(const Strata& strata, size_t attacks, CountsOf counts_of) {
  const auto& [members, non_members, test] = strata;
  const auto hits = members.sums(counts_of(members));
  const auto false_alarms = non_members.sums(counts_of(non_members));
  const double accuracy = test.size() == 0 ? ratio(false_alarms.back(), non_members.size())
                                           : ratio(test.sums(counts_of(test)).back(), test.size());
  // The advantage times both group sizes: whole numbers, so that equally strong means equal.
  const auto gain = [&](size_t attack) {
    return hits[attack] * non_members.size() - false_alarms[attack] * members.size();
  };
  size_t strongest = 0;
  for (size_t attack = 1; attack < attacks; ++attack) {
    if (gain(attack) > gain(strongest)) strongest = attack;
  }
  return {p1(accuracy, ratio(gain(strongest), members.size() * non_members.size())), strongest};
}

}  // namespace

double p1(double accuracy, double advantage) {
  const double privacy = 1 - std::max(advantage, 0.0);
  if (accuracy + privacy == 0) return 0;
  return 2 * accuracy * privacy / (accuracy + privacy);
}

CellP1 p1_cell(std::span<const NamedDecisions> attacks, std::span<const uint8_t> member,
               std::span<const uint8_t> correct, bool paired, uint64_t seed) {
  check(attacks, member, correct, paired);
  const auto strata = strata_of(attacks, member, correct, paired);
  const auto [value, strongest] =
      outcome(strata, attacks.size(), [](const Stratum& stratum) { return stratum.observed(); });

  std::mt19937_64 generator(seed);
  const auto redraw = [&](const Stratum& stratum) { return stratum.resampled(generator); };
  std::vector<double> resamples(kResamples);
  for (auto& resample : resamples) resample = outcome(strata, attacks.size(), redraw).p1;
  std::sort(resamples.begin(), resamples.end());
  return {value, attacks[strongest].attack,
          Interval{std::min(value, resamples[kTail - 1]),
                   std::max(value, resamples[kResamples - kTail])}};
}

}  // namespace imprint
