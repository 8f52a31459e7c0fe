#pragma once

#include <map>
#include <memory>
#include <vector>

#include "framework/reports/results.h"
#include "framework/reports/tensorboard_logger.h"
#include "framework/runs/plan.h"

namespace imprint {

/// TensorBoard events of a run: one TensorBoard run per cell, written while trainings go on. Opened
/// anew, it rewrites everything from the stored histories.
class CellEvents {
 public:
  CellEvents(std::filesystem::path folder, const Experiment& experiment, const Plan& plan,
             const Store& store);

  /// A recorded epoch of a training, for every cell whose target it is.
  void epoch(const std::string& train, const EpochRow& row);
  /// What measures and attacks found, once a cell is complete.
  void finish(const Results& results);

 private:
  TensorBoardLogger& logger(size_t cell);
  void write(const std::string& train, const EpochRow& row);

  std::filesystem::path folder_;
  const Experiment& experiment_;
  const Plan& plan_;
  const Store& store_;
  std::map<std::string, std::vector<size_t>> cells_of_;  ///< training -> cells
  std::map<std::string, int64_t> last_;                  ///< training -> epoch written last
  std::map<size_t, TensorBoardLogger> loggers_;
};

}  // namespace imprint
