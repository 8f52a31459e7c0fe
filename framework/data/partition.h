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
  int64_t canaries = 0;  ///< see Canaries
  std::string members;   ///< a file of the record numbers that the target was trained on; or empty
};

/// Records that an auditor puts into each model's members or leaves out, by a coin for each; the
/// keys of `data.canaries`. `mislabeled`: records with a wrong label; `random`: features drawn one
/// by one from different records, and any label; `natural`: records as they are.
struct Canaries {
  Canaries() = default;
  explicit Canaries(Keys keys);

  int64_t count = 0;
  std::string kind = "mislabeled";
};

/// The record numbers of every piece of one deal.
struct Partition {
  Tensor target_train, target_test, shadow_train, shadow_test, reference, population, tune, pool,
      canaries;
  std::string protocol;

  /// Digest of the record numbers.
  std::string digest() const;
};

/// Deals `records` records. Reports to `problems` at `mark` when there are too few.
Partition deal(const Protocol& protocol, int64_t records, const Stream& stream, const Mark& mark,
               Problems& problems);

/// The block of a model of the pool: its models share the pool out among them.
inline int64_t pool_block(int64_t model) { return model / 2; }

/// The data with the records of the canaries changed into what they are.
Dataset with_canaries(const Dataset& data, const Tensor& canaries, const std::string& kind,
                      const Stream& stream);

/// What one model trains on and what it is attacked with.
struct View {
  Split split;
  Dataset candidates;               ///< members and non-members, mixed
  Tensor member;                    ///< bool [candidates]
  Tensor record;                    ///< record number in the data set [candidates]
  Tensor natural;                   ///< bool [candidates]: what is scored; these come first
  Tensor tuning;                    ///< bool [candidates]: of the tune piece, never a member
  bool test_is_non_members = true;  ///< the test piece and the non-members are the same records
};

/// The view of model `index`. In the disjoint protocols 0 is the target, shadow 1 owns the shadow
/// pieces and further shadows redraw them. In `pool`, models come in blocks of two with
/// complementary halves, and any can be the target: its shadows are models of other blocks, so that
/// how many shadows saw a record says nothing about its membership. There all models have the
/// candidates in the pool's order.
View view(const Dataset& data, const Partition& partition, int64_t index, const Stream& stream);

}  // namespace imprint
