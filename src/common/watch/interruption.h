#pragma once

#include <csignal>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace fabricbench {

/// While this lives, a signal that ends programs (SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGUSR1, SIGUSR2, as launchers and
/// batch systems send them) still ends this one, but first `act` is called, on a thread of its own, for at most ten
/// seconds. Signals that were ignored stay so. One at a time.
class Interruption {
 public:
  /// `act` gets the signal's number and name.
  explicit Interruption(std::function<void(int number, const std::string& name)> act);
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption();

 private:
  void wait();

  std::function<void(int number, const std::string& name)> act_;
  int told_;                              // the end of a pipe that the signals' handler writes to
  std::vector<struct sigaction> before_;  // in the order of the signals
  std::thread thread_;
};

}  // namespace fabricbench
