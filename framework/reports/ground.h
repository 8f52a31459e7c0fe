#pragma once

#include <string>
#include <utility>
#include <vector>

#include "framework/reports/results.h"

namespace imprint {

/// What was learnt, by which model, from how many records.
struct Task {
  std::string data, model;
  size_t members = 0;  ///< of the first cell; cells of one task differ by at most a tenth
};
Task task_of(const CellResult& cell);

/// The same data and model, and about as many members: only then results may stand side by side.
bool same_task(const Task& a, const Task& b);

/// "cifar10 with cnn", or "cifar10 with cnn, 2,000 members" where another one of `all` has the same
/// data and model.
std::string task_text(const Task& task, const std::vector<Task>& all);

/// What was swept outside the cell's defense, `shadows.defense` aside: results from different
/// grounds are not compared.
std::vector<std::pair<std::string, std::string>> ground_of(const CellResult& cell);

/// Whether two models were trained on about as many records, within a tenth: one that had more is
/// more accurate and leaks less, whatever its defense.
bool same_size(const CellResult& a, const CellResult& b);

/// The same data, model and size, and no key outside the defenses in which they differ. A key that
/// only one of them sweeps (in its `with`) does not tell them apart.
bool same_ground(const CellResult& a, const CellResult& b);

}  // namespace imprint
