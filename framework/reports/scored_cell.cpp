#include "framework/reports/scored_cell.h"

#include <algorithm>
#include <limits>

#include "framework/data/formats/npz.h"

namespace imprint {
namespace {

double share_of(const std::vector<uint8_t>& flags) {
  const auto hits = std::count(flags.begin(), flags.end(), 1);
  return flags.empty() ? 0 : ratio(hits, static_cast<int64_t>(flags.size()));
}

void add_accuracy(const Truth& truth, CellResult& result) {
  const auto members = truth.all.member & truth.all.natural;
  result.member_records = integers_of(truth.all.record.masked_select(members));
  if (truth.right.defined())
    result.train_accuracy = share_of(bytes_of(truth.right.masked_select(members)));
  if (!truth.test_right.defined()) return;
  const auto correct = bytes_of(truth.test_right);
  result.test_accuracy = share_of(correct);
  result.test_accuracy_interval = clopper_pearson(std::count(correct.begin(), correct.end(), 1),
                                                  static_cast<int64_t>(correct.size()));
}

// Absent where an attack has no decisions: it might have been the strongest.
std::optional<CellP1> p1_of_all(const Truth& truth, const std::vector<Scored>& attacks,
                                uint64_t seed) {
  std::vector<NamedDecisions> named;
  for (const auto& [result, decisions, scored] : attacks) {
    if (!result.score.decided) return std::nullopt;
    named.push_back({result.attack, decisions, scored});
  }
  if (named.empty() || !truth.test_right.defined()) return std::nullopt;
  return p1_cell(named, bytes_of(truth.all.member.masked_select(truth.all.natural)),
                 bytes_of(truth.test_right), truth.paired, seed);
}

// What the tune piece says, for choosing a setting: the same members against its records.
void add_tuning(const Truth& truth, const std::vector<Attacked>& attacks, CellResult& result) {
  const auto& [member, natural, tuning, record] = truth.all;
  if (!truth.right.defined() || !tuning.any().item<bool>()) return;
  const auto count = tuning.sum().item<int64_t>();
  const auto add = [&](const std::string& name, double value) {
    result.metrics.push_back({name, value, {}, {}, count});
  };
  const auto accuracy = share_of(bytes_of(truth.right.masked_select(tuning)));
  add("tune.accuracy", accuracy);
  double strongest = 0;
  for (const auto& each : attacks) {
    if (!each.found.contains("decisions")) continue;
    if (!(tuning & each.found.at("scored")).any().item<bool>()) continue;
    const auto called = [&](const Tensor& whom) {
      return share_of(
          bytes_of(each.found.at("decisions").masked_select(whom & each.found.at("scored"))));
    };
    const auto advantage = called(member & natural) - called(tuning);
    strongest = std::max(strongest, advantage);
    add(each.attack + ".tune_advantage", advantage);
  }
  if (attacks.empty()) return;
  add("tune.advantage", strongest);
  add("tune.p1_cell", p1(accuracy, strongest));
}

}  // namespace

CellResult scored_cell(const Truth& truth, const std::vector<Attacked>& attacks,
                       const AuditChoice& audit, uint64_t seed) {
  CellResult result;
  add_accuracy(truth, result);
  std::vector<Scored> all;
  for (const auto& each : attacks) {
    auto& attack = all.emplace_back(scored(each.found, truth.all, audit, seed)).result;
    attack.attack = each.attack;
    attack.threat = each.threat;
    if (attack.score.decided && result.test_accuracy)
      attack.p1 = p1(*result.test_accuracy, attack.score.advantage);
    add_metrics(each.attack, each.logged, result);
    const auto canaries = canary_metrics(each.attack, each.found, truth.all, audit, seed);
    result.metrics.insert(result.metrics.end(), canaries.begin(), canaries.end());
    result.attacks.push_back(attack);
  }
  result.p1_cell = p1_of_all(truth, all, seed);
  add_tuning(truth, attacks, result);
  return result;
}

void add_metrics(const std::string& component, const std::vector<Metric>& logged,
                 CellResult& result) {
  for (const auto& metric : logged)
    if (!metric.epoch)
      result.metrics.push_back(
          {component + "." + metric.name, metric.value, metric.low, metric.high, metric.n});
}

void write_records(const std::filesystem::path& file, const Candidates& all, const Tensor& label,
                   const std::vector<Attacked>& attacks) {
  NpzWriter npz(file);
  npz.add("record", integers_of(all.record));
  if (label.defined()) npz.add("label", integers_of(label));
  npz.add("member", bytes_of(all.member));
  npz.add("natural", bytes_of(all.natural));
  for (const auto& each : attacks) {
    // Not a number: not attacked.
    const auto scores = each.found.at("scores").masked_fill(
        each.found.at("scored").logical_not(), std::numeric_limits<double>::quiet_NaN());
    npz.add(each.attack + ".scores", doubles_of(scores));
    if (each.found.contains("decisions"))
      npz.add(each.attack + ".decisions", bytes_of(each.found.at("decisions")));
  }
  npz.close();
}

}  // namespace imprint
