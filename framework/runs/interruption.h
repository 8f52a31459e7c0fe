#pragma once

#include <signal.h>

#include <initializer_list>

namespace imprint {

/// Thrown between two steps of a job whose process was asked to leave; what was done is saved.
struct Interrupted {};

/// While it lives, these signals ask this process to leave instead of ending it.
class LeaveOnSignals {
 public:
  explicit LeaveOnSignals(std::initializer_list<int> signals);
  ~LeaveOnSignals();
  LeaveOnSignals(const LeaveOnSignals&) = delete;
  LeaveOnSignals& operator=(const LeaveOnSignals&) = delete;

 private:
  std::initializer_list<int>::size_type count_;
  int signals_[4];
  void (*before_[4])(int);
};

/// While it lives, SIGINT, SIGTERM and SIGUSR1 wait: a process forked meanwhile misses none of them
/// before it has said what they mean to it.
class HoldSignals {
 public:
  HoldSignals();
  ~HoldSignals() { release(); }
  HoldSignals(const HoldSignals&) = delete;
  HoldSignals& operator=(const HoldSignals&) = delete;

  /// Before its end, in a forked process that will not return from here.
  void release();

 private:
  sigset_t before_;
};

/// Lets a forked process end with its parent, however that dies: it holds copies of its locks. Ends
/// it at once when `parent` is dead already.
void end_with(pid_t parent);

/// How many times this process was asked to leave.
int asked_to_leave();
/// As a signal would: a time limit.
void ask_to_leave();

}  // namespace imprint
