#include "framework/data/partition.h"

#include <fstream>
#include <set>

#include "framework/config/digest.h"

namespace imprint {
namespace {

Tensor none() { return torch::empty({0}, torch::kLong); }

// The halves of `pieces` joined and dealt again: train gets as many as before.
std::pair<Tensor, Tensor> redrawn(const Tensor& train, const Tensor& test, const Stream& stream) {
  const auto all = torch::cat({train, test});
  const auto order = torch::randperm(all.size(0), stream.generator(), torch::kLong);
  const auto mixed = all.index_select(0, order);
  return {mixed.slice(0, 0, train.size(0)), mixed.slice(0, train.size(0))};
}

// Which records of a pool of `n` model `index` trains on: a random half.
Tensor pool_members(int64_t n, int64_t index, const Stream& stream) {
  const auto order = torch::randperm(
      n, stream.at("block", static_cast<uint64_t>(pool_block(index))).generator(), torch::kLong);
  return index % 2 == 0 ? order < n / 2 : order >= n / 2;
}

// Record numbers from a file, each once and within the data; undefined without a file.
Tensor given_members(const std::string& file, int64_t records, const Mark& mark,
                     Problems& problems) {
  if (file.empty()) return {};
  std::ifstream stream(file);
  std::vector<int64_t> numbers;
  std::set<int64_t> seen;
  std::string word;
  while (stream >> word) {
    const auto number = as_integer(Value::scalar(word));
    if (number && *number >= 0 && *number < records && seen.insert(*number).second) {
      numbers.push_back(*number);
      continue;
    }
    problems.add(mark, fmt::format("{}: '{}' is not the number of a record (0..{}), or it stands "
                                   "there twice",
                                   file, word.substr(0, 40), records - 1));
    break;
  }
  if (!stream.eof() && seen.empty()) problems.add(mark, fmt::format("{}: cannot be read", file));
  if (stream.eof() && seen.empty()) problems.add(mark, fmt::format("{}: holds no numbers", file));
  return torch::tensor(numbers, torch::kLong);
}

}  // namespace

Protocol::Protocol(Keys keys)
    : name(keys.choice("protocol", {"four_way", "five_way", "pool"})
               .doc("four_way: target and shadow, train and test; five_way: and reference records; "
                    "pool: every model on a random half")),
      size(keys.integer("size", 0).at_least(0).doc(
          "records per piece (pool: in the pool); 0: as many as there are")),
      test(keys.integer("test", 0).at_least(0).doc(
          "pool only: records of the test piece; 0: a fifth of all records")),
      population(keys.integer("population", 0)
                     .at_least(0)
                     .doc("records for attackers that need some, trained on by nobody")),
      tune(keys.integer("tune", 0).at_least(0).doc(
          "records held out for choosing hyper-parameters")),
      members(keys.path("members", "")
                  .doc("four_way and five_way: a file of the numbers, as text, of the records that "
                       "the target was trained on elsewhere; the others are dealt as usual")) {
  if (!members.empty() && name == "pool")
    keys.problem("members", "members cannot be given in the protocol pool; use four_way");
}

Canaries::Canaries(Keys keys)
    : count(keys.integer("count", 0)
                .at_least(0)
                .doc("records put into each model's members or left out, by a coin for each; "
                     "scored apart")),
      kind(keys.choice("kind", {"mislabeled", "random", "natural"})
               .doc("records with a wrong label; features drawn one by one from different records "
                    "and any label; or records as they are")) {}

Dataset with_canaries(const Dataset& data, const Tensor& canaries, const std::string& kind,
                      const Stream& stream) {
  if (kind == "natural" || canaries.size(0) == 0) return data;
  auto changed = data;
  const auto m = canaries.size(0);
  const auto draw = [&](int64_t below) {
    return torch::randint(below, {m}, stream.at("canary labels").generator(), torch::kLong);
  };
  const auto wrong =
      (data.y.index_select(0, canaries) + 1 + draw(std::max<int64_t>(data.classes - 1, 1)))
          .remainder(data.classes);
  changed.y = data.y.index_copy(0, canaries, kind == "random" ? draw(data.classes) : wrong);
  if (kind != "random") return changed;
  const auto values = data.x.rows(canaries);
  const auto order =
      torch::rand({m, values.numel() / m}, stream.at("canary features").generator(), torch::kFloat)
          .argsort(0, /*descending=*/false);
  changed.x = data.x.replaced(canaries, values.flatten(1).gather(0, order).view(values.sizes()));
  return changed;
}

std::string Partition::digest() const {
  Sha256 digest;
  digest.field(protocol);
  for (const auto* piece : {&target_train, &target_test, &shadow_train, &shadow_test, &reference,
                            &population, &tune, &pool, &canaries})
    digest.field(Dataset{*piece, *piece, 0}.digest());
  return digest.hex();
}

Partition deal(const Protocol& protocol, int64_t records, const Stream& stream, const Mark& mark,
               Problems& problems) {
  auto order = torch::randperm(records, stream.generator(), torch::kLong);
  const auto given = given_members(protocol.members, records, mark, problems);
  if (given.defined()) {
    order = order.masked_select(torch::isin(order, given).logical_not());
    records = order.size(0);
  }
  const bool pool = protocol.name == "pool";
  const auto spare = protocol.population + protocol.tune + protocol.canaries;
  const auto test = !pool ? 0 : protocol.test > 0 ? protocol.test : records / 5;
  const int64_t pieces = (pool                          ? 1
                          : protocol.name == "five_way" ? 5
                                                        : 4) -
                         (given.defined() ? 1 : 0);
  const auto most = (records - spare - test) / pieces;
  const auto size = protocol.size > 0 ? protocol.size : most;
  if (size > most || size < (pool ? 2 : 1)) {
    problems.add(
        mark, fmt::format("{} needs {} records ({} x {}{}), the data have {}; at most {} per piece",
                          protocol.name, pieces * size + spare + test, pieces, size,
                          spare + test > 0 ? fmt::format(" + {}", spare + test) : "", records,
                          std::max<int64_t>(most, 0)));
    return {none(), none(), none(), none(), none(), none(), none(), none(), none(), protocol.name};
  }
  int64_t at = 0;
  const auto take = [&](int64_t count) {
    const auto piece = order.slice(0, at, at + count);
    at += count;
    return piece;
  };
  Partition partition;
  partition.protocol = protocol.name;
  partition.pool = take(pool ? size : 0);
  partition.target_train = given.defined() ? given : take(pool ? 0 : size);
  partition.target_test = take(pool ? test : size);
  partition.reference = take(protocol.name == "five_way" ? size : 0);
  partition.shadow_train = take(pool ? 0 : size);
  partition.shadow_test = take(pool ? 0 : size);
  partition.population = take(protocol.population);
  partition.tune = take(protocol.tune);
  partition.canaries = take(protocol.canaries);
  return partition;
}

View view(const Dataset& data, const Partition& partition, int64_t index, const Stream& stream) {
  const bool pool = partition.protocol == "pool";
  auto train = index == 0 ? partition.target_train : partition.shadow_train;
  auto test = index == 0 || pool ? partition.target_test : partition.shadow_test;
  View view;
  if (pool) {
    // Halves are random, so the pool's order says nothing about membership.
    view.record = partition.pool;
    view.member = pool_members(partition.pool.size(0), index, stream);
    train = partition.pool.masked_select(view.member);
  } else {
    if (index > 1)
      std::tie(train, test) =
          redrawn(train, test, stream.at("shadow", static_cast<uint64_t>(index)));
    // Members and non-members are mixed, so that no attack can use the order of its candidates.
    const auto order = torch::randperm(
        train.size(0) + test.size(0),
        stream.at("candidates", static_cast<uint64_t>(index)).generator(), torch::kLong);
    view.record = torch::cat({train, test}).index_select(0, order);
    view.member = order < train.size(0);
  }
  const auto n = view.member.size(0), m = partition.canaries.size(0), t = partition.tune.size(0);
  const auto places = torch::arange(n + m + t);
  view.natural = places < n;
  view.tuning = places >= n + m;
  if (m > 0) {
    const auto coins =
        torch::rand({m}, stream.at("canary coins", static_cast<uint64_t>(index)).generator(),
                    torch::kFloat) < 0.5;
    train = torch::cat({train, partition.canaries.masked_select(coins)});
    view.record = torch::cat({view.record, partition.canaries});
    view.member = torch::cat({view.member, coins});
  }
  view.record = torch::cat({view.record, partition.tune});
  view.member = torch::cat({view.member, torch::zeros({t}, torch::kBool)});
  view.split = {data.at(train), data.at(test), data.at(partition.reference),
                data.at(partition.population), data.at(partition.tune)};
  view.candidates = data.at(view.record);
  view.test_is_non_members = !pool;
  return view;
}

}  // namespace imprint
