#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/config/keys.h"
#include "framework/data/cache.h"
#include "framework/data/partition.h"
#include "framework/privacy/attack.h"
#include "framework/training/preparation.h"
#include "framework/training/trainer.h"

namespace imprint {

/// Which records an experiment uses: a source, a choice of them, how they are dealt out, and what
/// stands between them and the network.
struct DataChoice {
  Built<Source> source;
  size_t framework_keys = 0;  ///< the first of what `source` read are not its own
  /// The classes of each new label, the others left out; empty: all classes as they are.
  std::vector<std::vector<int64_t>> groups;
  int64_t limit = 0;  ///< 0: all
  std::shared_ptr<Protocol> protocol;
  Canaries canaries;
  Preparation preparation;
  Mark mark, split_mark;

  /// Identifies the records before they are dealt out.
  std::string address() const;
  /// The records and their digest, or a ConfigError that names the source's place in the file.
  Loaded load() const;

 private:
  std::string own_keys() const;
};

/// A target that was trained elsewhere.
struct TargetChoice {
  std::string weights;  ///< empty: the target is trained; `as_built`, or a file
  std::string digest;   ///< of the file
  Mark mark;
};

/// One attack of a cell: a variant, if its keys are swept.
struct AttackChoice {
  std::string label;
  Built<Attack> attack;
  std::string threshold = "auto";
  Mark mark = {};

  /// Whether thresholds are fitted class by class.
  bool per_class() const;
};

/// When an audit has enough shadows: when the interval of a metric is narrow enough.
struct Until {
  std::string metric;
  std::string attack;  ///< empty: the one with the largest value
  double half_width = 0;
  Mark mark = {};  ///< of the file
};

/// How many shadows the attacker trains, and with which defense.
struct ShadowChoice {
  int64_t count = 1;
  bool defended = true;        ///< with the target's own defense
  int64_t targets = 1;         ///< pool: how many of the models play the target in turn
  bool all_targets = false;    ///< every model does
  std::optional<Until> until;  ///< `count` is then the most
};

/// One point of the sweep with one seed, and one model that plays the target.
struct Cell {
  std::string id, label, defense, model;
  std::vector<std::pair<std::string, std::string>> swept;
  int64_t seed = 0;
  int64_t target_model = 0;  ///< pool: its number among the models
  DataChoice data;
  Value model_spec;
  std::string model_address;  ///< canonical keys
  std::string model_source;   ///< digest of its code
  std::shared_ptr<Schedule> schedule;
  std::string schedule_address;
  std::vector<Value> chain;  ///< YAML of each defense, resolved
  Mark chain_mark;
  std::vector<AttackChoice> attacks;
  std::vector<Value> measures;
  ShadowChoice shadows;
  TargetChoice target;
  torch::Device device = torch::kCPU;
};

/// What the results say beyond scores; the keys of `audit`.
struct AuditChoice {
  double fpr = 0.01;    ///< at which members count as found
  double delta = 1e-5;  ///< of the differential privacy that is bounded
};

/// How one setting per label is chosen on the tune piece; the keys of `tune`.
struct TuneChoice {
  std::string by = "p1_cell";  ///< p1_cell, accuracy or advantage, all of the tune piece
  bool keep_accuracy = false;  ///< only among settings no less accurate there than undefended
};

/// A figure or a claim as the user wrote it; reports interpret them.
struct Experiment {
  std::string name;
  std::vector<Cell> cells;
  Value figures, expect;
  bool scaled = false;  ///< smaller than what the claims were published about
  AuditChoice audit;
  std::optional<TuneChoice> tune;
  Value resolved;  ///< the file with bases, overrides, plugins and every default written out
};

/// Everything that can be known without data: builds every component of every cell. Loads the
/// plugins it names. Throws ConfigError with all problems.
Experiment read_experiment(Value root, const std::string& fallback_name);

/// The keys that the framework itself reads from every attack, and from every data set.
void read_attack_keys(Keys& keys, AttackChoice& choice);
void read_data_keys(Keys& keys, DataChoice& data);

/// How many of `all` shadows an attack is given: none if it decides without, the first if it needs
/// one or a threshold, else all (at least what it needs).
int64_t shadows_needed(const AttackChoice& choice, int64_t all);

/// Builds a fresh chain (defenses have state) from resolved YAML.
Chain build_chain(const std::vector<Value>& specs, Problems& problems);

/// "cuda" if there is one and `auto` was asked for. Adds a problem for a device that is not there.
torch::Device choose_device(const std::string& word, const Mark& mark, Problems& problems);

}  // namespace imprint
