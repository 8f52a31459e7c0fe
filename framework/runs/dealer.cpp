#include "framework/runs/dealer.h"

#include <fmt/ranges.h>

namespace imprint {

const Loaded& Dealer::loaded(const DataChoice& choice) {
  const auto source = choice.address();
  const auto [found, fresh] = loaded_.try_emplace(source);
  if (!fresh) return found->second;
  try {
    found->second = choice.load();
  } catch (const ConfigError& error) {
    problems_.add({}, error.what());
  }
  return found->second;
}

// False: nothing can be dealt out.
bool Dealer::fits(const Cell& cell, const Dataset& data) {
  const auto& choice = cell.data;
  const auto& [normalise, centre, mean, deviation, augment] = choice.preparation;
  if (data.empty()) {
    problems_.add(choice.mark, "no records are left: see keep_classes and relabel");
    return false;
  }
  if (cell.schedule->loss.one_output() && data.classes != 2)
    problems_.add(choice.mark,
                  fmt::format("this train.loss has one output and needs two classes, the data "
                              "have {}; choose two with keep_classes or relabel",
                              data.classes));
  const auto& shape = data.x.shape();
  const auto words = fmt::format("[{}]", fmt::join(shape, ", "));
  if (!augment.empty() && shape.size() != 3)
    problems_.add(choice.mark,
                  fmt::format("augment needs images, the records have shape {}", words));
  if (normalise == "standard" && static_cast<int64_t>(mean.size()) != shape.front())
    problems_.add(choice.mark,
                  fmt::format("the data set's constants are for {} channels, the records have "
                              "shape {}; use normalise: members",
                              mean.size(), words));
  return true;
}

std::shared_ptr<const Deal> Dealer::deal_for(const Cell& cell) {
  const auto& choice = cell.data;
  const auto& [data, digest] = loaded(choice);
  if (digest.empty() || !fits(cell, data)) return nullptr;
  const auto& protocol = *choice.protocol;
  const auto key =
      fmt::format("{} {} {} {} {} {} {} {} {} {}", choice.address(), protocol.name, protocol.size,
                  protocol.test, protocol.population, protocol.tune, protocol.members,
                  choice.canaries.count, choice.canaries.kind, cell.seed);
  if (const auto found = deals_.find(key); found != deals_.end()) return found->second;
  const auto stream = Stream(static_cast<uint64_t>(cell.seed)).at("split");
  auto partition = deal(protocol, data.size(), stream, choice.split_mark, problems_);
  auto split = partition.digest();
  if (choice.canaries.count > 0) split += " " + choice.canaries.kind;
  const auto changed = with_canaries(data, partition.canaries, choice.canaries.kind, stream);
  return deals_[key] =
             std::make_shared<Deal>(Deal{changed, std::move(partition), stream, digest, split});
}

}  // namespace imprint
