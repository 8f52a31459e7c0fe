#pragma once

#include "framework/runs/probe.h"
#include "framework/runs/progress.h"

namespace imprint {

/// How long the jobs of a plan will take, from a probe and from what was seen since.
class Forecast {
 public:
  Forecast(const Plan& plan, const Store* store, size_t workers,
           std::map<std::string, TrainingCost> costs);

  /// Learns from jobs under way and done.
  void hear(const Progress& progress);
  /// Seconds from now until everything is done; counts what is left of jobs under way.
  double left() const;
  /// How much of the work is done, 0 to 1.
  double share() const;
  /// Whether a job was to be done and has neither been done nor failed since.
  bool is_open(const std::string& address) const { return open_.contains(address); }
  /// How much of a job is done, 0 to 1.
  double share_of(const std::string& address) const;

  void set_workers(size_t workers) { workers_ = workers; }
  /// Bytes that one worker needs for the largest training.
  uint64_t worker_memory() const;
  /// Bytes that the store will grow by.
  uint64_t disk() const;

 private:
  struct Open {
    const Job* job;
    std::string kind;     ///< jobs of one kind are as fast as each other
    double expected = 0;  ///< seconds, by the probe
    double share = 0;     ///< done
    double mark_time = 0, mark_share = 0, start_time = 0,
           last_time = 0;  ///< where its own speed is measured from
  };
  struct Seen {
    double expected = 0, measured = 0;
  };

  const TrainingCost* cost_of(const std::string& train) const;
  double training_seconds(const TrainJob& training, const TrainingCost& cost) const;
  double expected_seconds(const Job& job) const;
  std::string kind_of(const Job& job) const;
  std::map<std::string, double> factors() const;

  const Plan& plan_;
  size_t workers_;
  std::map<std::string, TrainingCost> costs_;
  std::map<std::string, Open> open_;  ///< by address
  std::map<std::string, Seen> seen_;  ///< by kind
  std::vector<const Job*> order_;
  double all_ = 0;  ///< expected seconds of all jobs that were open at first
};

}  // namespace imprint
