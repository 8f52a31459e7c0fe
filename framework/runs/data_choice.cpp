#include <fmt/ranges.h>

#include <algorithm>

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

}  // namespace

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
