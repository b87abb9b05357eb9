#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "common/core/units.h"

namespace fabricbench {

/// A time limit on the clock of now(), and what to say where it passes.
class AgreementLimit {
 public:
  /// From now on; takes the place of the one before.
  void arm(Seconds limit, std::string text);
  void disarm() { deadline_.reset(); }
  /// What to say, once for each limit that has passed.
  [[nodiscard]] std::optional<std::string> take_passed();

 private:
  std::optional<Seconds> deadline_;
  std::string text_;
};

/// A time limit for going on together with another process, which may hang or be gone, in calls of MPI that would wait
/// for ever.
class AgreementWatch {
 public:
  /// `end` is called from a thread of its own when a limit has passed, with what arm was given; it ends the job.
  explicit AgreementWatch(std::function<void(const std::string&)> end);
  AgreementWatch(const AgreementWatch&) = delete;
  AgreementWatch& operator=(const AgreementWatch&) = delete;
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

}  // namespace fabricbench
