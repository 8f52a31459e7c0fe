#include "framework/runs/interruption.h"

#include <signal.h>

#include <algorithm>

namespace imprint {
namespace {

volatile sig_atomic_t asked = 0;

void on_signal(int) { asked = asked + 1; }

}  // namespace

LeaveOnSignals::LeaveOnSignals(std::initializer_list<int> signals) : count_(signals.size()) {
  asked = 0;
  std::copy(signals.begin(), signals.end(), signals_);
  for (size_t i = 0; i < count_; ++i) before_[i] = ::signal(signals_[i], on_signal);
}

LeaveOnSignals::~LeaveOnSignals() {
  for (size_t i = 0; i < count_; ++i) ::signal(signals_[i], before_[i]);
}

int asked_to_leave() { return asked; }
void ask_to_leave() { on_signal(0); }

}  // namespace imprint
