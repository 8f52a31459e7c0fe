#pragma once

#include "framework/runs/experiment.h"
#include "framework/runs/sweep.h"

namespace imprint {

// The small sections of an experiment file. Problems are collected; defaults are noted.

/// That all keys are known. False: something has the wrong kind, and reading on would only confuse.
bool read_top_level(const Value& root, Problems& problems);

std::string read_name(const Value& root, const std::string& fallback, Problems& problems);
std::vector<int64_t> read_seeds(Keys& keys);
AuditChoice read_audit(const Value* spec, Problems& problems, Defaults& defaults);
std::optional<TuneChoice> read_tune(const Value* spec, Problems& problems, Defaults& defaults);

}  // namespace imprint
