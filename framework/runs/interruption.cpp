#include "framework/runs/interruption.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

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

HoldSignals::HoldSignals() {
  sigset_t held;
  sigemptyset(&held);
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) sigaddset(&held, signal);
  ::sigprocmask(SIG_BLOCK, &held, &before_);
}

void HoldSignals::release() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

void end_with(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // it died before that was heard
}

int asked_to_leave() { return asked; }
void ask_to_leave() { on_signal(0); }

}  // namespace imprint
