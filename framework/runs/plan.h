#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "framework/runs/dealer.h"
#include "framework/runs/recipe.h"
#include "framework/runs/store.h"

namespace imprint {

/// One training: a target or a shadow. Cells that need the same one share it.
struct TrainJob {
  std::string address;
  std::string title;  ///< "target of <cell>"
  std::shared_ptr<const Deal> deal;
  int64_t index = 0;  ///< 0: the target, else the shadow's number
  std::shared_ptr<const Schedule> schedule;
  Value model_spec;
  std::vector<Value> chain;
  Stream stream;
  torch::Device device;
  Tensor members;                               ///< undefined: all
  std::vector<std::vector<std::string>> first;  ///< addresses of the trainings before, per link
  std::set<int64_t> snapshots;                  ///< epochs whose weights somebody releases
  std::vector<std::pair<std::string, Value>> measures;  ///< address -> spec, of those that watch
  Preparation preparation;
  std::string weights;  ///< of a target that was trained elsewhere: a file, or `as_built`
};

/// A training at the epoch that is released, with everything the service does to a query.
struct Release {
  std::string train;
  int64_t epoch = 0;
  std::vector<Value> chain;
};

/// Asks a released model about a piece of its records, each changed by `transform` before.
struct SignalsJob {
  std::string address;
  Release release;
  Piece piece = Piece::candidates;
  Transform transform = {};
  bool whole = true;  ///< keeps the whole answers, not only one number per record
};

/// A model as an attack meets it: the addresses of its answers, by piece and transform.
struct Observed {
  Release release;
  int64_t block = 0;
  std::map<std::pair<Piece, std::string>, std::string> signals;
};

/// Runs one attack on the answers of a target and its shadows.
struct AttackJob {
  std::string address;
  Observed target;
  std::vector<Observed> shadows;
  Built<Attack> attack;
  bool per_class = true;
  Stream stream;
};

/// Applies a measure to a released model.
struct MeasureJob {
  std::string address;
  Release release;
  Value spec;
};

/// One unit of work: what it is, what it waits for, how large it is.
struct Job {
  enum class Kind { train, signals, attack, measure };
  Kind kind;
  std::string address;
  std::vector<std::string> after;  ///< addresses
  std::string title;
  Recipe recipe;    ///< what its address is made of
  double work = 0;  ///< roughly: a training's records times epochs

  const char* folder() const;  ///< in the store
};

/// Which jobs the results of a cell come from.
struct CellJobs {
  std::string train;                 ///< of the target
  std::string signals;               ///< of the target
  std::vector<std::string> attacks;  ///< in the order of the cell's attacks
  std::vector<std::pair<std::string, std::string>> measures;  ///< name -> address, after training
  std::vector<std::pair<std::string, std::string>> watched;   ///< name -> address, during training
};

/// Everything there is to do for an experiment, each job once, in an order in which every job comes
/// after those it needs.
struct Plan {
  std::vector<Job> jobs;
  std::map<std::string, TrainJob> trainings;
  std::map<std::string, SignalsJob> signals;
  std::map<std::string, AttackJob> attacks;
  std::map<std::string, MeasureJob> measures;
  std::vector<CellJobs> cells;  ///< parallel to the experiment's

  /// The entries of the store that a job makes, its own first: kind and address.
  std::vector<std::pair<std::string, std::string>> made_by(const Job& job) const;
  /// Whether everything a job makes is in the store.
  bool stored(const Job& job, const Store& store) const;
};

/// Loads the data and plans. Throws ConfigError for what only the data can tell: too few records, a
/// loss that needs two classes.
Plan make_plan(const Experiment& experiment);

}  // namespace imprint
