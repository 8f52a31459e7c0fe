#pragma once

#include <chrono>
#include <map>
#include <string>

#include "framework/cli/ready.h"
#include "framework/cli/rewritten_lines.h"
#include "framework/runs/forecast.h"

namespace imprint {

/// "3:20 min".
std::string duration(double seconds);

/// How much there is to do, and `how` it will be done.
std::string announcement(const Ready& ready, const Remaining& open, const std::string& how);

/// Shows how far a run is and when it will end: on a terminal one line per worker and one for the
/// whole that rewrite themselves, elsewhere a line every few seconds, nothing when quiet.
class ProgressPanel {
 public:
  ProgressPanel(const Plan& plan, Forecast& forecast, bool quiet);

  void hear(const Progress& progress);
  /// Redraws if it is time to.
  void draw();
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  std::vector<std::string> lines();
  std::string worker_line(size_t worker, const std::string& address) const;
  std::string whole_line();

  const Plan& plan_;
  Forecast& forecast_;
  bool quiet_;
  size_t open_ = 0, done_ = 0, failed_ = 0;
  std::map<size_t, std::string> at_;  ///< worker -> address of its job; empty: none
  std::map<std::string, const Job*> jobs_;
  std::map<std::string, int64_t> epochs_;  ///< reached, by training
  Clock::time_point start_ = Clock::now();
  double left_ = 0;  ///< seconds, when it was last computed
  Clock::time_point computed_{};
  RewrittenLines shown_;
};

}  // namespace imprint
