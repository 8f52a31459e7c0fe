#pragma once

#include "framework/reports/results.h"
#include "framework/runs/plan.h"

namespace imprint {

/// The results of an experiment whose jobs are in the store; cells with missing jobs are left out,
/// and a note says so.
Results assemble(const Experiment& experiment, const Plan& plan, const Store& store);

/// The figures that an experiment asks for.
std::vector<Figure> read_figures(const Value& figures, Problems& problems);

/// Per-record scores of one cell: candidates' record numbers, labels, membership, and each attack's
/// scores and decisions, for numpy.load.
void write_records(const std::filesystem::path& file, const Cell& cell, const CellJobs& jobs,
                   const Store& store);

}  // namespace imprint
