#pragma once

#include <filesystem>

#include "framework/reports/attack_result.h"

namespace imprint {

/// An attack on one model with what it found, not yet scored.
struct Attacked {
  std::string attack;          ///< its name in results.csv
  std::string threat;          ///< what the attacker is given, in words
  Tensors found;               ///< scores, scored, decisions, as they are stored
  std::vector<Metric> logged;  ///< further scalars
};

/// The truth about the candidates of one model and about its test records.
struct Truth {
  Candidates all;
  Tensor right;         ///< bool [n] where the model is right; undefined: unknown
  Tensor test_right;    ///< bool [m] the same of the test records; undefined: unknown
  bool paired = false;  ///< the test records are the non-members, in their order
};

/// Accuracies, attacks, P1 and metrics of a cell; what identifies it is left to the caller.
CellResult scored_cell(const Truth& truth, const std::vector<Attacked>& attacks,
                       const AuditChoice& audit, uint64_t seed);

/// Adds what a component logged about the finished model.
void add_metrics(const std::string& component, const std::vector<Metric>& logged,
                 CellResult& result);

/// Per-record scores of one cell for numpy.load: candidates' record numbers, labels (unless
/// undefined), membership, and each attack's scores and decisions.
void write_records(const std::filesystem::path& file, const Candidates& all, const Tensor& label,
                   const std::vector<Attacked>& attacks);

}  // namespace imprint
