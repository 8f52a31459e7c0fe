#pragma once

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

/// How many times this process was asked to leave.
int asked_to_leave();
/// As a signal would: a time limit.
void ask_to_leave();

}  // namespace imprint
