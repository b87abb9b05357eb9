#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "common/core/ownership.h"

namespace fabricbench {

/// The stack of the thread that makes this, for another thread to read when that one is stuck. Takes the signal
/// SIGRTMIN; one object in a process at a time.
class ThreadStack : NotCopied {
 public:
  ThreadStack();
  ~ThreadStack();

  /// A line for each function, the innermost first; if the thread does not answer within a second, one line that says
  /// where the kernel keeps it. A library's function without a name is given by its library and address. From another
  /// thread only. Source: backtrace(3), dladdr(3), `wchan` of proc(5).
  [[nodiscard]] std::vector<std::string> read() const;

 private:
  pthread_t thread_;
  pid_t id_;
};

}  // namespace fabricbench
