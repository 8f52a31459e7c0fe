#include "framework/runs/timetable.h"

#include <algorithm>
#include <map>

namespace imprint {
namespace {

constexpr size_t most_simulated = 500;

// With so many jobs nobody ever waits for long: all the work, shared out; but no less than the
// longest.
double bound(const std::vector<const Job*>& open, size_t workers,
             const std::function<double(const Job&)>& seconds) {
  double all = 0, longest = 0;
  for (const auto* job : open) {
    all += seconds(*job);
    longest = std::max(longest, seconds(*job));
  }
  return std::max(all / static_cast<double>(std::max<size_t>(workers, 1)), longest);
}

}  // namespace

std::vector<const Job*> working_order(const Plan& plan) {
  // Later jobs need earlier ones: from the last to the first, each passes on what comes after it.
  std::map<std::string, double> behind;
  std::map<const Job*, double> length;
  for (auto job = plan.jobs.rbegin(); job != plan.jobs.rend(); ++job) {
    length[&*job] = job->work + behind[job->address];
    for (const auto& before : job->after) behind[before] = std::max(behind[before], length[&*job]);
  }
  std::vector<const Job*> order;
  for (const auto& job : plan.jobs) order.push_back(&job);
  std::stable_sort(order.begin(), order.end(),
                   [&](const Job* a, const Job* b) { return length[a] > length[b]; });
  return order;
}

double makespan(const std::vector<const Job*>& order, size_t workers,
                const std::function<double(const Job&)>& seconds) {
  std::map<std::string, double> ends;  // of jobs that are not done
  std::vector<const Job*> open;
  for (const auto* job : order)
    if (seconds(*job) > 0) {
      open.push_back(job);
      ends[job->address] = -1;
    }
  if (open.size() > most_simulated) return bound(open, workers, seconds);
  std::vector<double> free(std::max<size_t>(workers, 1), 0);
  double last = 0;
  while (!open.empty()) {
    const auto worker = std::min_element(free.begin(), free.end());
    // The first job that is ready when this worker is; else the one that is ready first.
    auto best = open.end();
    double best_start = 0;
    for (auto job = open.begin(); job != open.end(); ++job) {
      double start = *worker;
      for (const auto& before : (*job)->after)
        if (const auto found = ends.find(before); found != ends.end())
          start = found->second < 0 ? 1e300 : std::max(start, found->second);
      if (start > 1e299) continue;
      if (best == open.end() || start < best_start) best = job, best_start = start;
      if (start <= *worker) break;
    }
    if (best == open.end()) break;  // what is left needs something that is not in the order
    *worker = ends[(*best)->address] = best_start + seconds(**best);
    last = std::max(last, *worker);
    open.erase(best);
  }
  return last;
}

}  // namespace imprint
