#pragma once

#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>

namespace fabricbench::test {

/// Whether a thread of this process, by its gettid(), waits in a call of the kernel (state S of proc(5)).
[[nodiscard]] inline bool is_asleep(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(") ");
  return name_end != std::string::npos && line.compare(name_end + 2, 1, "S") == 0;
}

/// Returns when it does: a thread that is to be met in the middle of a wait, without a pause that may be too short.
inline void wait_until_asleep(pid_t thread) {
  while (!is_asleep(thread)) std::this_thread::yield();
}

}  // namespace fabricbench::test
