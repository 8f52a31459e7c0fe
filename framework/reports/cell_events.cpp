#include "framework/reports/cell_events.h"

#include "framework/runs/history.h"

namespace imprint {

CellEvents::CellEvents(std::filesystem::path folder, const Experiment& experiment, const Plan& plan,
                       const Store& store)
    : folder_(std::move(folder)), experiment_(experiment), plan_(plan), store_(store) {
  for (size_t i = 0; i < plan.cells.size(); ++i) cells_of_[plan.cells[i].train].push_back(i);
  for (const auto& [address, cells] : cells_of_) {
    if (!store.has("train", address)) continue;
    for (const auto& row : history_from(store.text("train", address, "history.jsonl")))
      epoch(address, row);
  }
}

TensorBoardLogger& CellEvents::logger(size_t cell) {
  const auto found = loggers_.find(cell);
  if (found != loggers_.end()) return found->second;
  const auto& id = experiment_.cells[cell].id;
  auto& made = loggers_.try_emplace(cell, folder_ / id, "imprint", wall_time_now()).first->second;
  made.text("experiment", "```\n" + to_yaml(Value::list(experiment_.cells[cell].chain)) + "```", 0);
  return made;
}

void CellEvents::epoch(const std::string& train, const EpochRow& row) {
  // Repeated for one more snapshot or measure, or gone on with from a checkpoint: what was written
  // stands.
  auto& last = last_[train];
  if (row.epoch <= last) return;
  last = row.epoch;
  write(train, row);
}

void CellEvents::write(const std::string& train, const EpochRow& row) {
  const auto found = cells_of_.find(train);
  if (found == cells_of_.end()) return;
  for (const auto cell : found->second) {
    auto& events = logger(cell);
    events.scalar("training/loss", row.loss, row.epoch);
    events.scalar("training/lr", row.lr, row.epoch);
    if (row.train_accuracy) events.scalar("accuracy/train", *row.train_accuracy, row.epoch);
    if (row.test_accuracy) events.scalar("accuracy/test", *row.test_accuracy, row.epoch);
  }
}

void CellEvents::finish(const Results& results) {
  for (size_t i = 0; i < experiment_.cells.size(); ++i) {
    const auto& id = experiment_.cells[i].id;
    const auto last = experiment_.cells[i].schedule->epochs;
    for (const auto& [name, address] : plan_.cells[i].watched) {
      if (!store_.has("measure", address)) continue;
      for (const auto& metric : metrics_from(store_.json("measure", address, "metrics.json")))
        if (metric.epoch) logger(i).scalar(name + "/" + metric.name, metric.value, *metric.epoch);
    }
    for (const auto& cell : results.cells) {
      if (cell.id != id) continue;
      for (const auto& attack : cell.attacks) {
        logger(i).scalar("advantage/" + attack.attack, attack.score.advantage, last);
        logger(i).scalar("auc/" + attack.attack, attack.score.auc, last);
      }
      if (cell.p1_cell) logger(i).scalar("p1_cell", cell.p1_cell->value, last);
    }
  }
}

}  // namespace imprint
