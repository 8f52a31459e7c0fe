#include "framework/reports/exposure.h"

#include <algorithm>
#include <numeric>

#include "framework/privacy/agreement.h"
#include "framework/reports/summary.h"

namespace imprint {
namespace {

constexpr size_t most_shown = 12;

double mean_of(const std::vector<double>& values) {
  return values.empty() ? 0
                        : std::accumulate(values.begin(), values.end(), 0.0) /
                              static_cast<double>(values.size());
}

/// Flags over all records of the data, so that runs with other splits can be compared.
class Flags {
 public:
  explicit Flags(const std::vector<const CellResult*>& cells) : cells_(cells) {
    for (const auto* cell : cells)
      for (const auto record : cell->member_records) size_ = std::max(size_, record + 1);
  }

  std::vector<uint8_t> marked(const std::vector<int64_t>& records) const {
    std::vector<uint8_t> flags(static_cast<size_t>(size_));
    for (const auto record : records) flags[static_cast<size_t>(record)] = 1;
    return flags;
  }

  std::vector<RunFlags> runs(const std::string& attack) const {
    std::vector<RunFlags> all;
    for (const auto* cell : cells_)
      for (const auto& each : cell->attacks)
        if (each.attack == attack)
          all.push_back({marked(each.flagged), marked(cell->member_records)});
    return all;
  }

 private:
  const std::vector<const CellResult*>& cells_;
  int64_t size_ = 0;
};

std::vector<std::string> flagging_attacks(const std::vector<const CellResult*>& cells) {
  std::vector<std::string> names;
  for (const auto* cell : cells)
    for (const auto& attack : cell->attacks)
      if (!attack.flagged.empty() &&
          std::find(names.begin(), names.end(), attack.attack) == names.end())
        names.push_back(attack.attack);
  return names;
}

// The records found most often, over all attacks and runs.
std::vector<ExposedRecord> most_exposed(const std::vector<std::vector<RunFlags>>& by_attack) {
  std::vector<ExposedRecord> all;
  for (const auto& runs : by_attack) {
    const auto [member_in, flagged_in, stability] = agreement_across_runs(runs);
    all.resize(std::max(all.size(), member_in.size()));
    for (size_t i = 0; i < member_in.size(); ++i) {
      all[i].record = static_cast<int64_t>(i);
      all[i].found += flagged_in[i];
      all[i].chances += member_in[i];
    }
  }
  std::erase_if(all, [](const auto& each) { return each.found == 0; });
  const auto more = [](const ExposedRecord& a, const ExposedRecord& b) {
    const auto left = a.found * b.chances, right = b.found * a.chances;
    return std::tuple(-left, -a.found, a.record) < std::tuple(-right, -b.found, b.record);
  };
  std::sort(all.begin(), all.end(), more);
  if (all.size() > most_shown) all.resize(most_shown);
  return all;
}

Exposure exposure_of(const Summary& row) {
  Exposure result;
  result.setting = setting_text(row.cell());
  result.cell = row.cell().id;
  result.attacks = flagging_attacks(row.cells);
  const Flags flags(row.cells);
  std::vector<std::vector<RunFlags>> by_attack;
  for (const auto& attack : result.attacks) by_attack.push_back(flags.runs(attack));
  if (by_attack.empty()) return result;
  const auto runs = by_attack.front().size();
  result.runs = static_cast<int64_t>(runs);
  std::vector<double> coverage, unanimous;
  for (size_t run = 0; run < runs; ++run) {
    std::vector<std::vector<uint8_t>> together;
    for (const auto& each : by_attack) together.push_back(each[run].flags);
    const auto found = agreement(together, by_attack.front()[run].member);
    coverage.push_back(found.coverage());
    unanimous.push_back(found.stability());
  }
  result.coverage = mean_of(coverage);
  result.unanimous = mean_of(unanimous);
  for (const auto& own : by_attack) {
    std::vector<double> shares;
    for (const auto& run : own)
      shares.push_back(ratio(std::count(run.flags.begin(), run.flags.end(), 1),
                             std::count(run.member.begin(), run.member.end(), 1)));
    result.share.push_back(mean_of(shares));
    result.jaccard.emplace_back();
    for (const auto& other : by_attack) {
      std::vector<double> overlaps;
      for (size_t run = 0; run < runs; ++run)
        overlaps.push_back(overlap(own[run].flags, other[run].flags).jaccard());
      result.jaccard.back().push_back(mean_of(overlaps));
    }
    if (runs > 1) result.stability.push_back(agreement_across_runs(own).stability);
  }
  result.most = most_exposed(by_attack);
  return result;
}

// The value of shadows.defense in a cell, and the cell without it.
std::pair<std::string, CellResult> without_shadow_defense(const CellResult& cell) {
  CellResult rest;
  rest.data = cell.data;
  rest.model = cell.model;
  rest.defense = cell.defense;
  rest.label = cell.label;
  std::string value;
  for (const auto& [path, each] : cell.swept) {
    if (path == kShadowDefense)
      value = each;
    else
      rest.swept.emplace_back(path, each);
  }
  return {value, rest};
}

std::vector<double> paired_differences(const std::string& attack, const Summary& own,
                                       const Summary& other) {
  std::vector<double> differences;
  const auto advantage = [&](const CellResult& cell) -> std::optional<double> {
    for (const auto& each : cell.attacks)
      if (each.attack == attack && each.score.decided) return each.score.advantage;
    return std::nullopt;
  };
  for (const auto* a : own.cells)
    for (const auto* b : other.cells)
      if (a->seed == b->seed && a->target == b->target && advantage(*a) && advantage(*b))
        differences.push_back(*advantage(*a) - *advantage(*b));
  return differences;
}

}  // namespace

std::vector<Exposure> exposures(const Results& results) {
  std::vector<Exposure> all;
  for (const auto& row : summarise(results)) {
    if (row.attacks.size() < 2 && row.cells.size() < 2) continue;
    auto exposure = exposure_of(row);
    if (!exposure.attacks.empty()) all.push_back(std::move(exposure));
  }
  return all;
}

std::vector<Adaptivity> adaptivity(const Results& results) {
  std::vector<Adaptivity> all;
  const auto rows = summarise(results);
  for (const auto& own : rows) {
    const auto [kind, setting] = without_shadow_defense(own.cell());
    if (kind != "same" || own.undefended()) continue;
    for (const auto& other : rows) {
      const auto [other_kind, other_setting] = without_shadow_defense(other.cell());
      if (other_kind != "none" || !same_setting(setting, other_setting)) continue;
      for (const auto& attack : own.attacks) {
        const auto differences = paired_differences(attack.attack, own, other);
        if (differences.empty()) continue;
        Adaptivity entry{setting_text(setting), attack.attack};
        entry.adaptive = attack.advantage->mean;
        entry.difference = mean_of(differences);
        entry.other = entry.adaptive - entry.difference;
        if (differences.size() > 1) {
          const auto interval = mean_interval(differences);
          entry.low = interval.low;
          entry.high = interval.high;
        }
        all.push_back(entry);
      }
    }
  }
  return all;
}

}  // namespace imprint
