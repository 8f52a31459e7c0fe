#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "framework/runs/machine.h"
#include "framework/runs/progress.h"
#include "framework/runs/work.h"

namespace imprint {

/// How a run ended.
struct Outcome {
  size_t done = 0;                                          ///< jobs done now
  std::vector<std::pair<std::string, std::string>> failed;  ///< address -> message
  bool interrupted = false;
  std::string stuck;  ///< why nobody could go on: the disk is full, the cluster refused
};

/// The worker processes of one run, wherever they are.
class Crew {
 public:
  virtual ~Crew() = default;
  /// Called several times a second: replaces who died. False: nobody is or will be at work.
  virtual bool tend(const std::function<void(const std::string&)>& note) = 0;
  /// Asks everybody to save and leave.
  virtual void dismiss() = 0;
  /// Ends everybody at once.
  virtual void kill() = 0;
  /// Why its workers could not go on; empty: they could.
  virtual std::string stuck() const { return ""; }
};

/// What is watched while a crew is at work.
struct CrewWatch {
  std::function<void(const Progress&)> listen;  ///< hears everything that happens
  std::function<void()> idle;                   ///< called several times a second
};

/// Waits until a crew has done all that it could, telling what its workers write to `folder`. When
/// this process is asked to leave, the crew is dismissed; asked again, or after `patience` seconds,
/// it is killed.
Outcome follow(Crew& crew, const std::filesystem::path& folder, const CrewWatch& watch,
               double patience);

/// What a local crew may use.
struct LocalCrew {
  size_t workers = 1;
  uint64_t spare_memory = 0;  ///< with less than this left of the machine, workers are sent home
  std::function<uint64_t()> free_memory = available_memory;
  double look_seconds = 2;  ///< between two looks at it
};

/// Worker processes forked from this one, so that they share the data in memory. Nothing in this
/// process may have used more than one thread before. A worker that dies is replaced; the job that
/// it was doing goes on from its checkpoint, and has failed when it ends a second one.
std::unique_ptr<Crew> start_local_crew(const Plan& plan, const Store& store,
                                       const std::filesystem::path& folder, LocalCrew how);

}  // namespace imprint
