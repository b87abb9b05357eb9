// What a reader does, in plain data and constexpr functions: a thread of the host, the kernel on a GPU and its fake in
// tests go by the very same ones. A reader is what messages are for: it lies in wait for them where they arrive.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fabricbench {

/// Messages carry numbers, each one more than the one before. The number is written behind the message's data into a
/// flag of 8 bytes, so who sees the number has the data.
struct ReaderTask {
  std::uint64_t* flag = nullptr;           ///< in the memory that messages arrive in
  const std::uint64_t* payload = nullptr;  ///< where their data arrive; aligned to 8 bytes
  std::uint64_t bytes = 0;                 ///< of a message's data
  std::uint64_t first = 1;                 ///< number of the next message
  std::uint64_t sums[2] = {0, 0};          ///< word_sum of messages with an even and with an odd number
  std::uint64_t checked_before = 0;        ///< every message with a number below this is checked
  std::uint64_t check_every = 0;           ///< and later those whose number is a multiple of this; 0: none
  std::uint64_t limit_ns = 0;              ///< without a message for so long, the reader gives up
};

/// What a reader found out; begins as zeros.
struct ReaderFindings {
  std::uint64_t checked = 0;  ///< messages whose data were looked at
  std::uint64_t wrong = 0;    ///< of those, with data that are not theirs
  std::uint64_t first_wrong = 0;
  std::uint64_t expected = 0;  ///< sum of that message
  std::uint64_t got = 0;
  bool gave_up = false;  ///< no message came for as long as the task allows
};

/// What the reader and the processor tell each other by, in host memory that both reach. Words that one of them spins
/// on lie apart, so that a write to one does not take the other's cache line away.
struct ReaderWords {
  alignas(128) std::uint64_t seen = 0;   ///< number of the last message that the reader saw
  alignas(128) std::uint64_t asked = 0;  ///< a flag that the processor writes, to measure the way there and back
  alignas(128) std::uint32_t abort = 0;  ///< not 0: the reader is to end
  alignas(128) ReaderFindings findings;  ///< written when the reader ends
  std::uint32_t ended = 0;               ///< and then this
};

/// Whether the flag's `number` says that message `next` has come. Numbers before it are of messages seen long ago.
[[nodiscard]] constexpr bool has_come(std::uint64_t number, std::uint64_t next) {
  return static_cast<std::int64_t>(number - next) >= 0;
}

[[nodiscard]] constexpr bool is_checked(const ReaderTask& task, std::uint64_t number) {
  if (task.bytes == 0) return false;
  return number < task.checked_before || (task.check_every != 0 && number % task.check_every == 0);
}

[[nodiscard]] constexpr std::uint64_t words_of(std::uint64_t bytes) { return (bytes + 7) / 8; }

/// Word `index` of data whose words `load(index)` gives: of the last one, only what belongs to the message. Bytes lie
/// as on every machine here, the lowest first.
template <typename Load>
[[nodiscard]] constexpr std::uint64_t word_of_data(Load load, std::uint64_t index, std::uint64_t bytes) {
  const std::uint64_t left = bytes - 8 * index;
  return left >= 8 ? load(index) : load(index) & ((std::uint64_t{1} << (8 * left)) - 1);
}

/// The sum, modulo 2^64, of every `step`-th word of `bytes` from the `first` on. The sums of all of them make word_sum.
template <typename Load>
[[nodiscard]] constexpr std::uint64_t part_of_sum(Load load, std::uint64_t bytes, std::uint64_t first,
                                                  std::uint64_t step) {
  std::uint64_t sum = 0;
  for (std::uint64_t index = first; index < words_of(bytes); index += step) sum += word_of_data(load, index, bytes);
  return sum;
}

constexpr void note_check(const ReaderTask& task, std::uint64_t number, std::uint64_t got, ReaderFindings& findings) {
  ++findings.checked;
  if (got == task.sums[number % 2]) return;
  if (findings.wrong++ != 0) return;
  findings.first_wrong = number;
  findings.expected = task.sums[number % 2];
  findings.got = got;
}

}  // namespace fabricbench
