#include "framework/reports/course.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "framework/reports/tables.h"
#include "framework/runs/history.h"

namespace imprint {
namespace {

/// Of all that was seen of one setting at one epoch.
using Course = std::map<int64_t, std::vector<Reading>>;

Course course_in(const Summary& setting, const std::string& metric) {
  Course course;
  for (const auto* cell : setting.cells)
    for (const auto& each : cell->course)
      if (each.metric == metric && std::isfinite(each.value))
        course[each.epoch].push_back({cell->seed, cell->target, each.value, std::nullopt});
  return course;
}

}  // namespace

std::vector<EpochResult> course_of(const CellJobs& jobs, const Store& store) {
  std::vector<EpochResult> course;
  for (const auto& row : history_from(store.text("train", jobs.train, "history.jsonl"))) {
    course.push_back({row.epoch, "training_loss", row.loss});
    if (row.train_accuracy) course.push_back({row.epoch, "train_accuracy", *row.train_accuracy});
    if (row.test_accuracy) course.push_back({row.epoch, "test_accuracy", *row.test_accuracy});
  }
  for (const auto& [name, address] : jobs.watched) {
    if (!store.has("measure", address)) continue;
    for (const auto& metric : metrics_from(store.json("measure", address, "metrics.json")))
      if (metric.epoch) course.push_back({*metric.epoch, name + "." + metric.name, metric.value});
  }
  return course;
}

std::optional<double> share_to_converge(const std::vector<EpochResult>& course) {
  std::map<int64_t, double> accuracy;
  for (const auto& each : course)
    if (each.metric == "test_accuracy") accuracy[each.epoch] = each.value;
  if (accuracy.size() < 2) return std::nullopt;
  const auto& [last, ending] = *accuracy.rbegin();
  const auto near = std::find_if(accuracy.begin(), accuracy.end(),
                                 [&](const auto& each) { return each.second >= 0.95 * ending; });
  return static_cast<double>(near->first) / static_cast<double>(last);
}

std::string epochs_csv(const Results& results) {
  std::string text = "cell,seed,target,epoch,metric,value\n";
  for (const auto& cell : results.cells)
    for (const auto& [epoch, metric, value] : cell.course)
      text += csv_line({cell.id, cell.seed, cell.target, epoch, metric, value});
  return text;
}

std::vector<CurvePoint> epoch_points(const Results& results, const Figure& figure) {
  const auto rows = result_rows(results);
  std::vector<CurvePoint> points;
  for (const auto& setting : summarise(results)) {
    const auto& row = *std::find_if(rows.begin(), rows.end(), [&](const ResultRow& each) {
      return each.cell == &setting.cell();
    });
    for (const auto& [epoch, readings] : course_in(setting, figure.y)) {
      CurvePoint point;
      point.panel = column_text(row, figure.panel);
      point.group = column_text(row, figure.group);
      point.setting = point.strand = setting_text(setting.cell());
      point.order = epoch;
      point.x = epoch;
      point.y_spread = spread(readings);
      point.y = point.y_spread.mean;
      point.counts =
          counted(point.y_spread.repetitions, point.y_spread.over == "seeds" ? "seed" : "target");
      points.push_back(std::move(point));
    }
  }
  return points;
}

bool thins_out(const std::vector<CurvePoint>& points) {
  std::set<double> epochs;
  for (const auto& point : points) epochs.insert(point.x.get<double>());
  const auto middle = std::next(epochs.begin(), static_cast<int64_t>(epochs.size() / 2));
  return middle != epochs.end() && *middle < *epochs.rbegin() / 5;
}

}  // namespace imprint
