#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "framework/config/digest.h"
#include "framework/runs/experiment.h"

namespace imprint {
namespace {

// Joins classes into new labels; records of classes in no group are left out.
Dataset relabelled(const Dataset& data, const std::vector<std::vector<int64_t>>& groups,
                   const Mark& mark) {
  auto renumbered = torch::full_like(data.y, -1);
  for (size_t label = 0; label < groups.size(); ++label) {
    for (const auto old : groups[label]) {
      if (old >= data.classes)
        throw ConfigError(mark.prefix() + fmt::format("keep_classes or relabel names class {}, the "
                                                      "data have 0..{}",
                                                      old, data.classes - 1));
      renumbered.masked_fill_(data.y.eq(old), static_cast<int64_t>(label));
    }
  }
  const auto rows = renumbered.ge(0).nonzero().squeeze(1);
  return {data.x.at(rows), renumbered.index_select(0, rows), static_cast<int64_t>(groups.size())};
}

void read_preparation(Keys& keys, Preparation& preparation) {
  preparation.normalise =
      keys.choice("normalise", {"off", "standard", "members"})
          .doc(
              "standard: by the data set's own constants; members: by mean and deviation of each "
              "model's members, per channel or feature")
          .get();
  preparation.centre =
      keys.flag("centre", false).doc("subtract the mean record of each model's members").get();
  auto augment = keys.section("augment");
  preparation.augment.crop =
      augment.integer("crop", 0)
          .within(0, 1024)
          .doc("training batches: pad by that many zeros, cut a random window of the old size")
          .get();
  preparation.augment.flip = augment.flag("flip", false)
                                 .doc("training batches: mirror each image with probability 1/2")
                                 .get();
}

}  // namespace

void read_data_keys(Keys& keys, DataChoice& data) {
  data.protocol = std::make_shared<Protocol>(keys.section("split"));
  data.canaries = Canaries(keys.section("canaries"));
  data.protocol->canaries = data.canaries.count;
  const std::vector<int64_t> kept =
      keys.integers("keep_classes", {})
          .at_least(0)
          .doc("only records of these classes, renumbered; empty: all");
  const std::string relabel =
      keys.text("relabel", "")
          .doc(
              "joins classes into new labels, the others left out: '0 2 4 | 1 3 5' makes label 0 "
              "of the even ones; or a name the data set knows");
  data.limit = keys.integer("limit", 0)
                   .at_least(0)
                   .doc("at most that many records, chosen at random; 0: all")
                   .get();
  const std::set<int64_t> distinct(kept.begin(), kept.end());
  if (distinct.size() != kept.size() || distinct.size() == 1)
    keys.problem("keep_classes", "keep_classes must name at least two different classes");
  if (!kept.empty() && !relabel.empty())
    keys.problem("relabel", "give keep_classes or relabel, not both");
  data.groups.clear();
  for (const auto old : kept) data.groups.push_back({old});
  read_preparation(keys, data.preparation);
  data.framework_keys = keys.reading()->values.size();
}

std::string DataChoice::own_keys() const {
  KeyLog own = *source.reading;
  own.values.erase(own.values.begin(),
                   own.values.begin() + static_cast<std::ptrdiff_t>(framework_keys));
  return own.address(true);
}

std::string DataChoice::address() const {
  std::string joined_classes;
  for (const auto& group : groups) joined_classes += fmt::format("{}|", fmt::join(group, ","));
  return Sha256()
      .field(source.about->name)
      .field(source.about->digest())
      .field(own_keys())
      .field(joined_classes)
      .field(std::to_string(limit))
      .hex();
}

Loaded DataChoice::load() const {
  Loaded loaded;
  try {
    loaded = load_records(*source.component, *source.about, own_keys());
  } catch (const ConfigError& error) {
    throw ConfigError(mark.prefix() + error.what());
  }
  auto& data = loaded.data;
  if (groups.empty() && (limit == 0 || limit >= data.size())) return loaded;
  if (!groups.empty()) data = relabelled(data, groups, mark);
  if (limit > 0 && limit < data.size()) {
    const auto order =
        torch::randperm(data.size(), Stream(0).at("limit").generator(), torch::kLong);
    data = data.at(std::get<0>(order.slice(0, 0, limit).sort()));
  }
  loaded.digest = Sha256()
                      .field(loaded.digest)
                      .field(Records(data.x.selection()).digest())
                      .field(Records(data.y).digest())
                      .hex();
  return loaded;
}

}  // namespace imprint
