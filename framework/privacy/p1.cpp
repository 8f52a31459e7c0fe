#include "framework/privacy/p1.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <vector>

#include "framework/privacy/dice.h"

namespace imprint {
namespace {

constexpr size_t kResamples = 1000;
constexpr size_t kTail = 25;  // resamples in each 2.5 % tail

constexpr char kNo = 0, kYes = 1, kAbsent = 2;  // what an attack decided; not asked

/// Records that are resampled together, each a row of answers (one per attack, then `correct`). Few
/// rows differ, so a resample is held as the number of times each distinct row was drawn.
class Stratum {
 public:
  using Counts = std::vector<int64_t>;

  void add(const std::string& row) { ++rows_[row]; }

  /// To be called after the last `add`.
  void close() {
    for (const auto& [row, count] : rows_) {
      if (count >= kCommon) {
        common_.push_back(table_.size());
        in_common_ += count;
      } else {
        rare_.insert(rare_.end(), static_cast<size_t>(count), table_.size());
      }
      table_.push_back(row);
      observed_.push_back(count);
    }
  }

  int64_t size() const { return in_common_ + static_cast<int64_t>(rare_.size()); }
  const Counts& observed() const { return observed_; }

  /// Draws as many records as there are, with replacement: common rows by how often each comes up,
  /// rare ones record by record.
  Counts resampled(Dice& dice) const {
    Counts counts(table_.size());
    int64_t draws = size(), records = size();
    for (const auto row : common_) {
      counts[row] = dice.binomial(draws, ratio(observed_[row], records));
      draws -= counts[row];
      records -= observed_[row];
    }
    for (; draws > 0; --draws) ++counts[rare_[dice.below(rare_.size())]];
    return counts;
  }

  /// In each column, how many records said yes, and how many said anything.
  struct Sums {
    Counts yes, all;
  };
  Sums sums(const Counts& counts) const {
    const auto columns = table_.front().size();
    Sums result{Counts(columns), Counts(columns)};
    for (size_t row = 0; row < table_.size(); ++row) {
      for (size_t column = 0; column < columns; ++column) {
        const auto answer = table_[row][column];
        result.yes[column] += answer == kYes ? counts[row] : 0;
        result.all[column] += answer == kAbsent ? 0 : counts[row];
      }
    }
    return result;
  }

 private:
  static constexpr int64_t kCommon = 8;  // a binomial costs about as much as so many draws

  std::map<std::string, int64_t> rows_;
  std::vector<std::string> table_;  ///< distinct rows
  Counts observed_;                 ///< of each
  std::vector<size_t> common_;      ///< rows of many records
  std::vector<size_t> rare_;        ///< the row of each other record
  int64_t in_common_ = 0;           ///< records of common rows
};

/// The records of a cell. Paired test records are the last column of `non_members`, and `test` is
/// empty.
struct Strata {
  Stratum members, non_members, test;
};

/// A fraction of whole numbers, so that equally strong means equal. Without any record (a resample
/// of few may miss them all) it is 0.
struct Advantage {
  int64_t gain = 0, of = 0;

  double value() const { return of == 0 ? 0 : ratio(gain, of); }
  bool operator>(const Advantage& other) const {
    using Wide = __int128;
    return static_cast<Wide>(gain) * std::max<int64_t>(other.of, 1) >
           static_cast<Wide>(other.gain) * std::max<int64_t>(of, 1);
  }
};

struct Outcome {
  double p1 = 0;
  size_t strongest = 0;
};

void check(std::span<const NamedDecisions> attacks, std::span<const uint8_t> member,
           std::span<const uint8_t> correct, bool paired) {
  const auto refuse = [](const std::string& why) { throw std::invalid_argument(why); };
  if (attacks.empty()) refuse("P1 needs at least one attack");
  for (const auto& [attack, decisions, scored] : attacks) {
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
    for (const auto& [attack, decisions, scored] : attacks) {
      const bool absent = !scored.empty() && scored[i] == 0;
      row += absent ? kAbsent : decisions[i] != 0 ? kYes : kNo;
    }
    if (member[i] != 0) {
      strata.members.add(row);
      continue;
    }
    if (paired) row += correct[next_test++] != 0 ? kYes : kNo;
    strata.non_members.add(row);
  }
  if (!paired)
    for (const auto bit : correct) strata.test.add(std::string(1, bit != 0 ? kYes : kNo));
  for (auto* stratum : {&strata.members, &strata.non_members, &strata.test}) stratum->close();
  return strata;
}

/// `counts_of` tells how often each row of a stratum counts: as observed, or in one resample.
template <typename CountsOf>
Outcome outcome(const Strata& strata, size_t attacks, CountsOf counts_of) {
  const auto& [members, non_members, test] = strata;
  const auto hits = members.sums(counts_of(members));
  const auto false_alarms = non_members.sums(counts_of(non_members));
  const double accuracy = test.size() == 0
                              ? ratio(false_alarms.yes.back(), non_members.size())
                              : ratio(test.sums(counts_of(test)).yes.back(), test.size());
  Advantage best;
  size_t strongest = 0;
  for (size_t attack = 0; attack < attacks; ++attack) {
    const auto m = hits.all[attack], n = false_alarms.all[attack];
    const Advantage own{hits.yes[attack] * n - false_alarms.yes[attack] * m, m * n};
    if (attack > 0 && !(own > best)) continue;
    best = own;
    strongest = attack;
  }
  return {p1(accuracy, best.value()), strongest};
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

  Dice dice(seed);
  const auto redraw = [&](const Stratum& stratum) { return stratum.resampled(dice); };
  std::vector<double> resamples(kResamples);
  for (auto& resample : resamples) resample = outcome(strata, attacks.size(), redraw).p1;
  std::sort(resamples.begin(), resamples.end());
  return {value, attacks[strongest].attack,
          Interval{std::min(value, resamples[kTail - 1]),
                   std::max(value, resamples[kResamples - kTail])}};
}

}  // namespace imprint
