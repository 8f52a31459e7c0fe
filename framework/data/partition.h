#pragma once

#include <string>

#include "framework/config/keys.h"
#include "framework/data/dataset.h"
#include "framework/data/stream.h"

namespace imprint {

/// How records are dealt out; the keys of `data.split`.
///
/// - `four_way`: target train, target test, shadow train, shadow test (the CCL paper).
/// - `five_way`: the same and `reference` records for defenses that need some.
/// - `pool`: every model trains on a random half of one pool (LiRA, RMIA); the other half are its
///   non-members. A separate `test` piece measures accuracy.
struct Protocol {
  explicit Protocol(Keys keys);

  std::string name;
  int64_t size;  ///< records per piece (pool: in the pool); 0: as many as there are
  int64_t test;  ///< pool: records of the test piece
  int64_t population, tune;
  std::string members;  ///< a file of the record numbers that the target was trained on; or empty
};

/// The record numbers of every piece of one deal.
struct Partition {
  Tensor target_train, target_test, shadow_train, shadow_test, reference, population, tune, pool;
  std::string protocol;

  /// Digest of the record numbers.
  std::string digest() const;
};

/// Deals `records` records. Reports to `problems` at `mark` when there are too few.
Partition deal(const Protocol& protocol, int64_t records, const Stream& stream, const Mark& mark,
               Problems& problems);

/// What one model trains on and what it is attacked with.
struct View {
  Split split;
  Dataset candidates;               ///< members and non-members, mixed
  Tensor member;                    ///< bool [candidates]
  Tensor record;                    ///< record number in the data set [candidates]
  bool test_is_non_members = true;  ///< the test piece and the non-members are the same records
};

/// The view of model `index`: 0 is the target, the others its shadows. In the disjoint protocols
/// shadow 1 owns the shadow pieces and further shadows redraw them; in `pool`, models come in
/// blocks of two with complementary halves, and a target's shadows are the models of other blocks,
/// so that how many shadows saw a record says nothing about its membership.
View view(const Dataset& data, const Partition& partition, int64_t index, const Stream& stream);

}  // namespace imprint
