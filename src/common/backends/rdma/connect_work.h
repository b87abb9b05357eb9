#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "common/core/ownership.h"
#include "common/core/units.h"
#include "common/options/program.h"

namespace fabricbench {

/// A time limit on the clock of now(), and the message for when it has passed.
class AgreementLimit {
 public:
  /// Sets the limit from now on; replaces the previous one.
  void arm(Seconds limit, std::string text);
  void disarm() { deadline_.reset(); }
  /// The message of a limit that has passed; returned once per limit.
  [[nodiscard]] std::optional<std::string> take_passed();

 private:
  std::optional<Seconds> deadline_;
  std::string text_;
};

/// A time limit for MPI calls that wait for another process. If that process hangs or is gone, such a call never
/// returns.
class AgreementWatch : NotCopied {
 public:
  /// `end` is called from a separate thread when a limit has passed, with the arguments of arm; it must end the job.
  explicit AgreementWatch(std::function<void(const std::string&)> end);
  ~AgreementWatch();

  void arm(Seconds limit, std::string text);
  void disarm();

 private:
  void watch();

  std::function<void(const std::string&)> end_;
  std::mutex mutex_;
  std::condition_variable stop_;
  bool stopping_ = false;
  AgreementLimit limit_;
  std::thread thread_;
};

/// Runs a program that makes connections over rdma_cm. Starts and ends MPI; does not throw.
[[nodiscard]] int run_connections(const Program& program, int argc, char** argv);

}  // namespace fabricbench
