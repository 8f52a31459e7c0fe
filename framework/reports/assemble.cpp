#include "framework/reports/assemble.h"

#include <set>

#include "framework/data/formats/npz.h"
#include "framework/runs/history.h"
#include "framework/runs/machine.h"

namespace imprint {
namespace {

constexpr size_t roc_points = 200;

std::vector<uint8_t> bytes_of(const Tensor& flags) {
  const auto bytes = flags.to(torch::kUInt8).contiguous();
  return {bytes.const_data_ptr<uint8_t>(), bytes.const_data_ptr<uint8_t>() + bytes.numel()};
}

std::vector<double> doubles_of(const Tensor& tensor) {
  const auto values = tensor.to(torch::kDouble).contiguous();
  return {values.const_data_ptr<double>(), values.const_data_ptr<double>() + values.numel()};
}

double share(const std::vector<uint8_t>& flags) {
  const auto hits = std::count(flags.begin(), flags.end(), 1);
  return flags.empty() ? 0 : static_cast<double>(hits) / static_cast<double>(flags.size());
}

bool complete(const CellJobs& jobs, const Store& store) {
  bool all = store.has("train", jobs.train) && store.has("signals", jobs.signals);
  for (const auto& address : jobs.attacks) all = all && store.has("attack", address);
  for (const auto& [name, address] : jobs.measures) all = all && store.has("measure", address);
  return all;
}

void add_metrics(const std::string& component, const nlohmann::json& json, CellResult& result) {
  for (const auto& metric : metrics_from(json))
    if (!metric.epoch)
      result.metrics.push_back(
          {component + "." + metric.name, metric.value, metric.low, metric.high, metric.n});
}

// One attack of a cell with what the cell's P1 needs of it.
struct Scored {
  AttackResult result;
  std::vector<uint8_t> decisions;
};

Scored scored(const AttackChoice& choice, const std::string& address,
              const std::vector<uint8_t>& member, double test_accuracy, const Store& store) {
  auto tensors = store.tensors("attack", address);
  const auto scores = doubles_of(tensors.at("scores"));
  Scored all;
  all.decisions = bytes_of(tensors.at("decisions"));
  all.result.attack = choice.label;
  all.result.threat = choice.attack.component->needs().words();
  all.result.score = score(scores, all.decisions, member);
  all.result.p1 = p1(test_accuracy, all.result.score.advantage);
  all.result.roc = thinned(roc(scores, member), roc_points);
  return all;
}

CellResult cell_result(const Cell& cell, const CellJobs& jobs, const Store& store) {
  CellResult result;
  result.id = cell.id;
  result.data = cell.data.source.about->name;
  result.model = cell.model;
  result.defense = cell.defense;
  result.label = cell.label;
  result.swept = cell.swept;
  result.seed = cell.seed;
  auto signals = store.tensors("signals", jobs.signals);
  const auto member = bytes_of(signals.at("member"));
  const auto correct = bytes_of(signals.at("test_correct"));
  const auto answers = answers_from(signals["logits"], signals["log_p"]);
  const auto right = answers.log_p.argmax(1).eq(signals.at("y"));
  result.train_accuracy = share(bytes_of(right.masked_select(signals.at("member"))));
  result.test_accuracy = share(correct);
  result.test_accuracy_interval = clopper_pearson(std::count(correct.begin(), correct.end(), 1),
                                                  static_cast<int64_t>(correct.size()));
  std::vector<Scored> attacks;
  for (size_t i = 0; i < cell.attacks.size(); ++i) {
    attacks.push_back(
        scored(cell.attacks[i], jobs.attacks[i], member, result.test_accuracy, store));
    add_metrics(cell.attacks[i].label, store.json("attack", jobs.attacks[i], "metrics.json"),
                result);
  }
  std::vector<NamedDecisions> named;
  for (const auto& attack : attacks) {
    named.push_back({attack.result.attack, attack.decisions});
    result.attacks.push_back(attack.result);
  }
  const bool paired = cell.data.protocol->name != "pool";
  if (!named.empty())
    result.p1_cell = p1_cell(named, member, correct, paired, static_cast<uint64_t>(cell.seed));
  for (const auto& [name, address] : jobs.measures)
    add_metrics(name, store.json("measure", address, "metrics.json"), result);
  return result;
}

void note_machines(const Plan& plan, const Store& store, Results& results) {
  std::set<std::string> kinds;
  for (const auto& [address, training] : plan.trainings)
    if (store.has("train", address))
      kinds.insert(read_file(store.at("train", address) / "machine.txt"));
  if (kinds.size() < 2) return;
  results.notes.push_back("Trained on different kinds of CPU, so last bits may differ: " +
                          joined({kinds.begin(), kinds.end()}, "; ") + ".");
}

}  // namespace

Results assemble(const Experiment& experiment, const Plan& plan, const Store& store) {
  Results results;
  results.name = experiment.name;
  results.config = to_yaml(experiment.resolved);
  results.environment = environment();
  Problems problems;
  results.figures = read_figures(experiment.figures, problems);
  size_t missing = 0;
  for (size_t i = 0; i < experiment.cells.size(); ++i) {
    if (complete(plan.cells[i], store))
      results.cells.push_back(cell_result(experiment.cells[i], plan.cells[i], store));
    else
      ++missing;
  }
  if (missing > 0)
    results.notes.push_back(fmt::format("{} of {} cells are missing: jobs failed or were not done.",
                                        missing, experiment.cells.size()));
  note_machines(plan, store, results);
  return results;
}

std::vector<Figure> read_figures(const Value& figures, Problems& problems) {
  std::vector<Figure> all;
  for (const auto& item : figures.items) {
    if (!item.is_map()) {
      problems.add(item.mark,
                   "a figure is a map such as {x: test_accuracy, y: advantage, group: defense, "
                   "panel: attack}");
      continue;
    }
    Keys keys(item, new_reading("this figure", problems));
    Figure figure;
    figure.x = keys.text("x", figure.x).doc("column on the horizontal axis").get();
    figure.y = keys.text("y", figure.y).doc("column on the vertical axis").get();
    figure.group = keys.text("group", figure.group).doc("one curve per value").get();
    figure.panel = keys.text("panel", figure.panel).doc("one panel per value").get();
    keys.finish();
    all.push_back(figure);
  }
  return all;
}

void write_records(const std::filesystem::path& file, const Cell& cell, const CellJobs& jobs,
                   const Store& store) {
  auto signals = store.tensors("signals", jobs.signals);
  NpzWriter npz(file);
  const auto integers = [](const Tensor& tensor) {
    const auto values = tensor.to(torch::kLong).contiguous();
    return std::vector<int64_t>(values.const_data_ptr<int64_t>(),
                                values.const_data_ptr<int64_t>() + values.numel());
  };
  npz.add("record", integers(signals.at("record")));
  npz.add("label", integers(signals.at("y")));
  npz.add("member", bytes_of(signals.at("member")));
  for (size_t i = 0; i < cell.attacks.size(); ++i) {
    auto found = store.tensors("attack", jobs.attacks[i]);
    npz.add(cell.attacks[i].label + ".scores", doubles_of(found.at("scores")));
    npz.add(cell.attacks[i].label + ".decisions", bytes_of(found.at("decisions")));
  }
  npz.close();
}

}  // namespace imprint
