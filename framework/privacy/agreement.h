#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace imprint {

// Which members an attack finds, and how far attacks, seeds and targets agree about them. Flags are
// one per record, 1 where a member is flagged; `member[i]` is 1 for members. A broken contract
// throws std::invalid_argument.

/// 1 for the members whose score reaches the threshold of the largest attainable false positive
/// rate that is not above `fpr`, in [0, 1]; 0 for other members and for all non-members. A
/// threshold takes in all records of equal score. Scores and groups are as in roc(). O(n log n).
std::vector<uint8_t> flagged(std::span<const double> scores, std::span<const uint8_t> member,
                             double fpr);

/// How many records two sets of flags share.
struct Overlap {
  int64_t both = 0, either = 0;

  /// both / either; 0 when nothing is flagged, as there is nothing to agree on.
  double jaccard() const;
};

/// The overlap of two sets of flags over the same records.
Overlap overlap(std::span<const uint8_t> one, std::span<const uint8_t> other);

/// What several attacks (or seeds) on the same members find together.
struct Agreement {
  int64_t members = 0;
  int64_t by_any = 0;           ///< members flagged by at least one
  std::vector<int64_t> by_all;  ///< positions of the records flagged by all, ascending

  /// The share of members flagged by at least one; 0 without members.
  double coverage() const;
  /// Of those flagged by at least one, the share flagged by all; 0 when nothing is flagged.
  double stability() const;
};

/// `flags` holds at least one set, all over the records of `member`. Flags of non-members do not
/// count.
Agreement agreement(std::span<const std::vector<uint8_t>> flags, std::span<const uint8_t> member);

/// One run's flags, and who was a member of its target.
struct RunFlags {
  std::vector<uint8_t> flags, member;
};

/// What runs find whose targets have different members, as in leave-one-out audits of a pool.
struct RunAgreement {
  std::vector<int64_t> member_in;   ///< per record: the runs in which it was a member
  std::vector<int64_t> flagged_in;  ///< per record: those of them in which it was flagged
  /// Mean over pairs of runs of the Jaccard overlap among the records that are members in both.
  /// Pairs without such records, as complementary halves of a pool are, do not count; 0 when no
  /// pair is left.
  double stability = 0;
};

/// All runs must be over the same records. Flags of non-members do not count. O(runs^2 records).
RunAgreement agreement_across_runs(std::span<const RunFlags> runs);

}  // namespace imprint
