#pragma once

#include "framework/reports/scored_cell.h"
#include "framework/runs/outputs_file.h"

namespace imprint {

/// What was found out about somebody else's model.
struct ScoredOutputs {
  Results results;                ///< one cell; the notes say what cannot be concluded
  std::vector<Attacked> attacks;  ///< behind that cell, for write_records
  bool failed = false;            ///< an attack broke off; a note names it
};

/// The candidates of a file, numbered by their rows from 0; no canaries are among them.
Candidates candidates_of(const Outputs& outputs);

/// Runs every registered attack that needs no more than the outputs, with its default keys, and
/// scores the file's own scores as the attack "scores". Without a shadow no threshold is fitted,
/// and only attacks that decide by themselves have an advantage.
ScoredOutputs score_outputs(const OutputsPair& outputs, const AuditChoice& audit = {});

}  // namespace imprint
