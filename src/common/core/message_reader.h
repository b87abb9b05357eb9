#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "common/core/memory.h"
#include "common/core/ownership.h"
#include "common/core/reader_task.h"
#include "common/core/units.h"

namespace fabricbench {

/// The consumer of messages: a kernel on a GPU, or a host thread in its place. It waits for messages where they arrive
/// and reports each one to the processor. It reads from `begin` to `end`. All calls come from one thread, except
/// `abandon`. A reader is destroyed before the memory that it watches.
class MessageReader : public InterfaceBase {
 public:
  /// For messages, such as `a kernel of GPU 0`.
  [[nodiscard]] virtual std::string description() const = 0;

  /// Starts to read. Throws Error (failure) where it cannot.
  void begin(const ReaderTask& task);
  [[nodiscard]] bool reads() const { return reads_; }
  /// Number of the last message seen; before the first message, its number minus 1.
  [[nodiscard]] std::uint64_t seen() const;
  /// Whether it has stopped by itself; `end` says why. Throws Error (failure) if its device failed.
  [[nodiscard]] bool has_stopped();
  /// Stops it if it still reads, and returns once it has stopped. Throws Error.
  ReaderFindings end();
  /// Tells it to stop and waits briefly; may be called from any thread.
  void abandon() noexcept;

  /// The time from the processor's write to a word that the reader watches until the processor sees the answer: the
  /// median of `times` measurements in seconds. Each waits at most `limit`; throws Error (timeout) if no answer comes.
  /// Not allowed while it reads.
  [[nodiscard]] Seconds round_trip(int times, Seconds limit);

 protected:
  /// Shared with the kernel or thread.
  [[nodiscard]] virtual ReaderWords& words() const = 0;
  /// The address of `words().asked` as the kernel or thread sees it.
  [[nodiscard]] virtual std::uint64_t* asked() const = 0;
  /// Starts the kernel or thread with `task`; it answers through `words()` and sets `ended` at the end.
  virtual void launch(const ReaderTask& task) = 0;
  /// Throws Error (failure) if the kernel or thread has failed silently.
  virtual void look_after() {}
  /// Returns when the kernel or thread, told to end or ended by itself, is gone. Throws Error.
  virtual void join() = 0;

 private:
  std::atomic<bool> reads_ = false;
};

/// The sum, modulo 2^64, of the 64-bit words of `data`; the last word is padded with zeros.
[[nodiscard]] std::uint64_t word_sum(std::span<const std::byte> data);

/// The sums of two messages that differ in every byte.
struct ComplementSums {
  std::uint64_t original = 0;
  std::uint64_t complement = 0;
};

/// Fills `complement`, as long as `original` and in the same memory, with the complement of each byte.
ComplementSums make_complement(Memory& memory, std::span<const std::byte> original, std::span<std::byte> complement);

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
