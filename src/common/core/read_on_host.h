#pragma once

#include <atomic>
#include <cstdint>

#include "common/core/reader_task.h"

namespace fabricbench {

/// A reader on the processor. It reads messages until it is told to end, or until none has come for too long.
/// `now_ns()` reads a clock; `pause()` yields the processor when no message has come for a while.
template <typename Clock, typename Pause>
void read_on_host(const ReaderTask& task, ReaderWords& words, Clock now_ns, Pause pause) {
  constexpr int kSpinsPerLook = 1000;
  const auto load = [&task](std::uint64_t index) {
    return *const_cast<const volatile std::uint64_t*>(task.payload + index);  // written by a device at any time
  };
  ReaderFindings findings;
  std::uint64_t next = task.first;
  std::uint64_t since = now_ns();
  for (int spins = 1;; ++spins) {
    const std::uint64_t number = std::atomic_ref(*task.flag).load(std::memory_order_acquire);
    if (has_come(number, next)) {
      if (is_checked(task, number)) note_check(task, number, part_of_sum(load, task.bytes, 0, 1), findings);
      std::atomic_ref(words.seen).store(number, std::memory_order_release);
      next = number + 1;
      since = 0;
      spins = 0;
    } else if (spins % kSpinsPerLook == 0) {
      if (std::atomic_ref(words.abort).load(std::memory_order_acquire) != 0) break;
      if (since == 0) since = now_ns();
      findings.gave_up = now_ns() - since > task.limit_ns;
      if (findings.gave_up) break;
      pause();
    }
  }
  words.findings = findings;
  std::atomic_ref(words.ended).store(1, std::memory_order_release);
}

}  // namespace fabricbench
