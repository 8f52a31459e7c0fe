#include "framework/config/digest.h"
#include "framework/runs/experiment.h"

namespace imprint {

std::string DataChoice::address() const {
  std::string kept;
  for (const auto k : keep_classes) kept += fmt::format("{},", k);
  return Sha256()
      .field(source.about->name)
      .field(source.about->digest())
      .field(source.reading->address(true))
      .field(kept)
      .field(std::to_string(limit))
      .hex();
}

Dataset DataChoice::load() const {
  Dataset data;
  try {
    data = source.component->load();
  } catch (const ConfigError& error) {
    throw ConfigError(mark.prefix() + error.what());
  }
  if (!keep_classes.empty()) {
    auto renumbered = torch::full_like(data.y, -1);
    for (size_t k = 0; k < keep_classes.size(); ++k) {
      if (keep_classes[k] >= data.classes)
        throw ConfigError(mark.prefix() +
                          fmt::format("keep_classes names class {}, the data have 0..{}",
                                      keep_classes[k], data.classes - 1));
      renumbered.masked_fill_(data.y.eq(keep_classes[k]), static_cast<int64_t>(k));
    }
    const auto rows = renumbered.ge(0).nonzero().squeeze(1);
    data = {data.x.at(rows), renumbered.index_select(0, rows),
            static_cast<int64_t>(keep_classes.size())};
  }
  if (limit > 0 && limit < data.size()) {
    const auto order =
        torch::randperm(data.size(), Stream(0).at("limit").generator(), torch::kLong);
    data = data.at(std::get<0>(order.slice(0, 0, limit).sort()));
  }
  return data;
}

}  // namespace imprint
