#pragma once

#include <functional>
#include <vector>

#include "framework/runs/plan.h"

namespace imprint {

/// The order in which workers look for something to do: the start of the longest chain of work
/// first, so that no long training begins when everybody else is about to finish.
std::vector<const Job*> working_order(const Plan& plan);

/// Seconds until `workers` workers have done the jobs of `order` that have `seconds` left, taking
/// them as workers do (of very many jobs, roughly). Jobs without are done.
double makespan(const std::vector<const Job*>& order, size_t workers,
                const std::function<double(const Job&)>& seconds);

}  // namespace imprint
