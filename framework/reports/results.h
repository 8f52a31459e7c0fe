#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/privacy/scoring.h"

namespace imprint {

/// One attack on one cell, scored.
struct AttackResult {
  std::string attack;  ///< name, with the swept keys of its variant: "confidence (of=max)"
  std::string threat;  ///< what the attacker is given, in words
  Score score;
  std::optional<double> p1;      ///< absent without decisions or test accuracy
  double epsilon_low = 0;        ///< see epsilon_low()
  Roc roc;                       ///< thinned for drawing
  std::vector<int64_t> flagged;  ///< numbers of the members found at the audit's FPR
};

/// One scalar that an attack or a measure logged, named `component.metric`.
struct MetricResult {
  std::string metric;
  double value = 0;
  std::optional<double> low, high;
  std::optional<int64_t> n;
};

/// One scalar of a training after one of its epochs.
struct EpochResult {
  int64_t epoch = 0;
  std::string metric;  ///< see course_of()
  double value = 0;
};

/// One point of the sweep with one seed, and one target in it.
struct CellResult {
  std::string id;                    ///< file name of its records and TensorBoard run
  std::string data, model, defense;  ///< registered names; a chain joined by '+'; see foreign()
  std::string label;                 ///< the curve it belongs to
  std::vector<std::pair<std::string, std::string>>
      swept;  ///< path -> value, in the order of the file
  int64_t seed = 0, target = 0;
  std::optional<double> train_accuracy, test_accuracy;  ///< absent where no answers are known
  Interval test_accuracy_interval;
  std::vector<AttackResult> attacks;
  std::optional<CellP1> p1_cell;  ///< absent without attacks, or when one has no P1
  std::vector<MetricResult> metrics;
  std::vector<EpochResult> course;
  std::vector<int64_t> member_records;  ///< numbers of the target's members
  bool chosen = false;                  ///< its setting was chosen on the tune piece

  /// Somebody else's model, of which only outputs are known: `data` is their file, and there is
  /// neither model nor defense nor seed.
  bool foreign() const { return defense.empty(); }
};

/// A figure of the report: names of columns of results.csv. With the x `epoch`, y is a scalar of
/// the trainings (EpochResult).
struct Figure {
  std::string x = "test_accuracy", y = "advantage", group = "label", panel = "attack";
};

/// A record and how often it was found: of all pairs of an attack and a run (seed, target) in which
/// it was a member, in how many the attack flagged it.
struct ExposedRecord {
  int64_t record = 0;
  int64_t found = 0, chances = 0;
  std::string picture = {};  ///< a data address, where records are images
};

/// Whom attacks find in one setting, and how far they agree: attacks with equal areas under the
/// curve may flag different people. Flagged are members above the threshold of the audit's FPR.
struct Exposure {
  std::string setting;
  std::string cell;                          ///< the first of the setting's
  int64_t runs = 0;                          ///< seeds times targets
  std::vector<std::string> attacks;          ///< those that flag anybody in any run
  std::vector<double> share;                 ///< [attack] of members flagged, mean over runs
  std::vector<std::vector<double>> jaccard;  ///< [attack][attack], mean over runs
  double coverage = 0;                       ///< share of members that some attack flags, mean
  double unanimous = 0;                      ///< of those, the share that all flag, mean
  /// [attack] mean overlap of two runs among records that are members in both; empty with one run.
  std::vector<double> stability;
  std::vector<ExposedRecord> most;  ///< the most exposed records, the first the most
};

/// An attack's metric at one number of shadows of an audit in stages.
struct Stage {
  std::string setting, attack, metric;
  int64_t shadows = 0;
  double value = 0;
  std::optional<double> low = {}, high = {};
};

/// The setting of a label that was chosen on the tune piece, whose records are in no other piece.
struct Chosen {
  std::string data, model, label, setting;
  std::string by;     ///< the metric of the tune piece that decided
  double value = 0;   ///< its mean over seeds
  int64_t among = 0;  ///< settings there were to choose from
};

/// What a paper (or the author) claims, and what was found.
struct Verdict {
  std::string claim, published, measured, interval;
  std::string verdict;  ///< holds, fails, undecided
  bool scaled = false;
};

/// Everything a report is drawn from.
struct Results {
  std::string name;
  std::vector<CellResult> cells;
  std::vector<Figure> figures;
  std::vector<Verdict> verdicts;
  double audit_fpr = 0.01;  ///< at which members count as found
  std::vector<Exposure> exposures;
  std::vector<Stage> stages;
  std::vector<Chosen> chosen;
  std::vector<std::string> notes;  ///< what the reader must know, one sentence each
  std::string config;              ///< the resolved experiment file
  nlohmann::json environment;
};

}  // namespace imprint
