#pragma once

#include <chrono>
#include <map>
#include <string>

#include "framework/cli/rewritten_line.h"
#include "framework/runs/workers.h"

namespace imprint {

/// Shows how far a run is and when it will end: one line that rewrites itself on a terminal, a line
/// every few seconds elsewhere, nothing when quiet. ETA assumes that work goes on as fast as so
/// far.
class ProgressLine {
 public:
  ProgressLine(const Plan& plan, const Store& store, bool quiet);

  void hear(const Progress& progress);
  /// Redraws if it is time to.
  void draw();
  void finish();
  size_t jobs() const { return open_jobs_; }

 private:
  using Clock = std::chrono::steady_clock;
  std::string line() const;

  bool quiet_;
  size_t open_jobs_ = 0, done_ = 0, failed_ = 0;
  double work_ = 0, finished_work_ = 0;
  std::map<std::string, std::pair<double, double>> open_;  ///< address -> work, share of it done
  std::map<std::string, const Job*> jobs_;
  std::map<std::string, int64_t> epochs_;
  Clock::time_point start_ = Clock::now();
  RewrittenLine line_;
};

}  // namespace imprint
