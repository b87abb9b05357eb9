#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "common/core/units.h"

namespace fabricbench {

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
  Seconds deadline_ = 0;  // 0: none
  std::string text_;
  std::thread thread_;
};

}  // namespace fabricbench
