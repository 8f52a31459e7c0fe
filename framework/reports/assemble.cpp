#include "framework/reports/assemble.h"

#include <set>

#include "framework/data/formats/images.h"
#include "framework/reports/choices.h"
#include "framework/reports/course.h"
#include "framework/reports/exposure.h"
#include "framework/reports/scored_cell.h"
#include "framework/runs/history.h"
#include "framework/runs/machine.h"

namespace imprint {
namespace {

bool complete(const CellJobs& jobs, const Store& store) {
  bool all = store.has("train", jobs.train) && store.has("signals", jobs.signals);
  for (const auto& address : jobs.attacks) all = all && store.has("attack", address);
  for (const auto& [name, address] : jobs.measures) all = all && store.has("measure", address);
  return all;
}

void describe(const Cell& cell, CellResult& result) {
  result.id = cell.id;
  result.data = cell.data.source.about->name;
  result.model = cell.model;
  result.defense = cell.defense;
  result.label = cell.label;
  result.swept = cell.swept;
  result.seed = cell.seed;
  result.target = cell.target_model;
}

Candidates candidates_in(const Tensors& signals) {
  return {signals.at("member"), signals.at("natural"), signals.at("tuning"), signals.at("record")};
}

std::vector<Attacked> stored_attacks(const Cell& cell, const CellJobs& jobs, const Store& store) {
  std::vector<Attacked> attacks;
  for (size_t i = 0; i < cell.attacks.size(); ++i) {
    const auto& [label, attack, threshold, mark] = cell.attacks[i];
    attacks.push_back({label, attack.component->needs().words(),
                       store.tensors("attack", jobs.attacks[i]),
                       metrics_from(store.json("attack", jobs.attacks[i], "metrics.json"))});
  }
  return attacks;
}

CellResult cell_result(const Cell& cell, const CellJobs& jobs, const AuditChoice& audit,
                       const Store& store) {
  const auto signals = store.tensors("signals", jobs.signals, "columns");
  const Truth truth{.all = candidates_in(signals),
                    .right = signals.at("label").eq(signals.at("y")),
                    .test_right = signals.at("test_correct"),
                    .paired = cell.data.protocol->name != "pool"};
  auto result = scored_cell(truth, stored_attacks(cell, jobs, store), audit,
                            static_cast<uint64_t>(cell.seed));
  describe(cell, result);
  result.course = course_of(jobs, store);
  if (const auto share = share_to_converge(result.course))
    result.metrics.push_back({"training.share_to_95", *share, {}, {}, {}});
  for (const auto& [name, address] : jobs.measures)
    add_metrics(name, metrics_from(store.json("measure", address, "metrics.json")), result);
  return result;
}

// The pictures of exposed records, where records are images.
void add_pictures(const Records& x, Exposure& exposure) {
  const auto& shape = x.shape();
  if (shape.size() != 3 || (shape[0] != 1 && shape[0] != 3)) return;
  for (auto& each : exposure.most) {
    auto image = x.rows(each.record, each.record + 1)[0];
    if (image.scalar_type() != torch::kUInt8) image = (image.clamp(0, 1) * 255).to(torch::kUInt8);
    each.picture = png_address(image);
  }
}

void add_pictures(const Experiment& experiment, const Plan& plan, Results& results) {
  for (auto& exposure : results.exposures)
    for (size_t i = 0; i < experiment.cells.size(); ++i)
      if (experiment.cells[i].id == exposure.cell) {
        add_pictures(plan.trainings.at(plan.cells[i].train).deal->data.x, exposure);
        break;
      }
}

void note_shadows(Results& results) {
  for (const auto& cell : results.cells)
    for (const auto& metric : cell.metrics) {
      const auto attack = metric.metric.substr(0, metric.metric.find('.'));
      if (metric.metric.ends_with(".shadows_left_out"))
        results.notes.push_back(
            fmt::format("{}: {} of the shadows gave no numbers and were left out ({}).", cell.id,
                        metric.value, attack));
      if (metric.metric.ends_with(".variance_fell_back"))
        results.notes.push_back(
            fmt::format("{}: {} used one variance for all records, as fewer than two shadows saw "
                        "some record, or did not.",
                        cell.id, attack));
    }
}

void note_machines(const Plan& plan, const Store& store, Results& results) {
  std::set<std::string> kinds;
  for (const auto& [address, training] : plan.trainings)
    if (store.has("train", address)) kinds.insert(store.text("train", address, "machine.txt"));
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
      results.cells.push_back(
          cell_result(experiment.cells[i], plan.cells[i], experiment.audit, store));
    else
      ++missing;
  }
  if (missing > 0)
    results.notes.push_back(fmt::format("{} of {} cells are missing: jobs failed or were not done.",
                                        missing, experiment.cells.size()));
  note_machines(plan, store, results);
  note_shadows(results);
  results.audit_fpr = experiment.audit.fpr;
  results.exposures = exposures(results);
  choose(experiment.tune, results);
  add_pictures(experiment, plan, results);
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
  const auto signals = store.tensors("signals", jobs.signals, "columns");
  write_records(file, candidates_in(signals), signals.at("y"), stored_attacks(cell, jobs, store));
}

}  // namespace imprint
