#pragma once

#include "framework/reports/results.h"
#include "framework/runs/experiment.h"

namespace imprint {

std::vector<uint8_t> bytes_of(const Tensor& flags);
std::vector<double> doubles_of(const Tensor& tensor);
std::vector<int64_t> integers_of(const Tensor& tensor);

/// Who the candidates of a cell are; all [n].
struct Candidates {
  Tensor member, natural;  ///< bool
  Tensor tuning;           ///< bool, of the tune piece; the rest that is not natural are canaries
  Tensor record;           ///< numbers of the records
};

/// One attack of a cell with what the cell's P1 needs of it.
struct Scored {
  AttackResult result;                     ///< without name, threat model and P1
  std::vector<uint8_t> decisions, scored;  ///< of natural candidates
};

/// From an attack's scores, decisions and scored, as they are stored; without decisions, only what
/// needs none. Canaries are left out.
Scored scored(const Tensors& tensors, const Candidates& all, const AuditChoice& audit,
              uint64_t seed);

/// What the canaries say, which were put in or left out by coins; nothing without canaries.
std::vector<MetricResult> canary_metrics(const std::string& attack, const Tensors& tensors,
                                         const Candidates& all, const AuditChoice& audit,
                                         uint64_t seed);

}  // namespace imprint
