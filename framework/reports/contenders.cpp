#include "framework/reports/contenders.h"

#include <fmt/format.h>

#include <algorithm>

#include "framework/config/keys.h"
#include "framework/reports/ground.h"

namespace imprint {
namespace {

/// A path that the cell does not sweep does not tell it apart.
bool agrees_in(const CellResult& cell, const std::pair<std::string, std::string>& choice) {
  return std::all_of(cell.swept.begin(), cell.swept.end(), [&](const auto& entry) {
    return entry.first != choice.first || entry.second == choice.second;
  });
}

/// Keeps the samples that agree, or all if none does.
template <class Predicate>
void narrow(std::vector<Sample>& samples, const Predicate& agrees) {
  if (std::none_of(samples.begin(), samples.end(), agrees)) return;
  std::erase_if(samples, [&](const Sample& sample) { return !agrees(sample); });
}

/// Keeps the samples with the data, the model, the size and the swept keys outside the defense of
/// `own`, as far as the selector leaves them open.
std::vector<Sample> on_ground_of(const CellResult& own, std::vector<Sample> samples,
                                 const Selector& selector) {
  if (!selector.names("data")) {
    narrow(samples, [&](const Sample& each) { return each.cell().data == own.data; });
  }
  if (!selector.names("model")) {
    narrow(samples, [&](const Sample& each) { return each.cell().model == own.model; });
  }
  narrow(samples, [&](const Sample& each) { return same_size(each.cell(), own); });
  for (const auto& choice : own.swept) {
    if (of_defense(choice.first, own) || selector.names(choice.first)) continue;
    narrow(samples, [&](const Sample& each) { return agrees_in(each.cell(), choice); });
  }
  return samples;
}

bool contains(const std::vector<Sample>& samples, const CellResult& cell) {
  return std::any_of(samples.begin(), samples.end(),
                     [&](const Sample& each) { return same_setting(each.cell(), cell); });
}

/// "test_accuracy above {defense: none}".
std::string text_of(const Condition& condition) {
  const auto& [above, limit, margin] = condition.side;
  const auto* number = std::get_if<double>(&limit);
  return fmt::format("{} {} {}", condition.metric, above ? "above" : "below",
                     number ? canonical(*number) : std::get<Selector>(limit).text());
}

}  // namespace

Contenders::Contenders(const Claim& claim, const std::vector<ResultRow>& rows)
    : claim_(claim), rows_(rows) {}

std::vector<Sample> Contenders::own() const {
  auto all = samples(rows_, claim_.cell, {claim_.metric, claim_.attack});
  keep_satisfying(all, claim_.cell.text());
  return all;
}

std::vector<Sample> Contenders::opponents(const Sample& own, const Selector& selector) const {
  auto all = others(own, selector);
  if (all.size() > 1) keep_satisfying(all, selector.text());
  return all;
}

std::vector<Sample> Contenders::rivals(const Sample& own, const LowestAmong& form) const {
  std::vector<Sample> all;
  std::vector<std::string> words;
  for (const auto& selector : form.rivals) {
    words.push_back(selector.text());
    for (auto& each : others(own, selector)) {
      // What the claim's own selector matches lost the choice; it is no rival.
      if (claim_.cell.matches(each.cell()) || contains(all, each.cell())) continue;
      all.push_back(std::move(each));
    }
  }
  if (all.empty()) throw Missing("no such cell but the claim's own: " + joined(words));
  keep_satisfying(all, joined(words));
  return all;
}

std::vector<Sample> Contenders::others(const Sample& own, const Selector& selector) const {
  auto all = samples(rows_, selector, {claim_.metric, claim_.attack});
  std::erase_if(all, [&](const Sample& each) { return same_setting(each.cell(), own.cell()); });
  if (all.empty()) throw Missing("no such cell but the claim's own: " + selector.text());
  return on_ground_of(own.cell(), std::move(all), selector);
}

double Contenders::limit_for(const CellResult& cell, const Condition& condition) const {
  if (const auto* number = std::get_if<double>(&condition.side.limit)) return *number;
  const auto& selector = std::get<Selector>(condition.side.limit);
  const Quantity quantity{condition.metric, claim_.attack};
  const auto all = on_ground_of(cell, samples(rows_, selector, quantity), selector);
  return extreme(all, condition.side.above ? 1 : -1).mean();
}

bool Contenders::satisfies(const Sample& setting) const {
  return std::all_of(claim_.where.begin(), claim_.where.end(), [&](const Condition& condition) {
    const auto own = sample(setting.rows, {condition.metric, claim_.attack});
    if (own.readings.empty()) return false;
    const double excess = own.mean() - limit_for(setting.cell(), condition);
    return condition.side.above ? excess >= -kRounding : excess <= kRounding;
  });
}

void Contenders::keep_satisfying(std::vector<Sample>& settings, const std::string& selector) const {
  std::erase_if(settings, [&](const Sample& each) { return !satisfies(each); });
  if (!settings.empty()) return;
  std::vector<std::string> words;
  for (const auto& condition : claim_.where) words.push_back(text_of(condition));
  throw Missing(fmt::format("no such cell: {} where {}", selector, joined(words, " and ")));
}

}  // namespace imprint
