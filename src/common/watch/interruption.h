#pragma once

#include <csignal>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "common/core/ownership.h"
#include "common/core/units.h"

namespace fabricbench {

/// While this lives, a signal that ends programs (SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGUSR1, SIGUSR2, as launchers and
/// batch systems send them) still ends this one, but first `act` is called, on a thread of its own, for at most ten
/// seconds. Signals that were ignored stay so. One at a time.
class Interruption : NotCopied {
 public:
  /// `act` gets the signal's number and name. `delay`: time that this process then leaves to others; another signal
  /// ends it at once.
  explicit Interruption(std::function<void(int number, const std::string& name)> act, Seconds delay = 0);
  ~Interruption();

 private:
  void wait();
  void leave_time_to_others() const;

  std::function<void(int number, const std::string& name)> act_;
  Seconds delay_;
  int told_;                              // the end of a pipe that the signals' handler writes to
  std::vector<struct sigaction> before_;  // in the order of the signals
  std::thread thread_;
};

}  // namespace fabricbench
