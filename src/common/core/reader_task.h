// The work of a reader, as plain data and constexpr functions. The host thread, the GPU kernel and the kernel's fake in
// tests all use them. A reader is the consumer of messages: it waits for them where they arrive.
#pragma once

#include <cstdint>

namespace fabricbench {

/// Messages are numbered consecutively. The number is written after the message's data into a flag of 8 bytes, so a
/// reader that sees the number also has the data.
struct ReaderTask {
  std::uint64_t* flag = nullptr;           ///< in the memory where messages arrive
  const std::uint64_t* payload = nullptr;  ///< where their data arrive; aligned to 8 bytes
  std::uint64_t bytes = 0;                 ///< of data per message
  std::uint64_t first = 1;                 ///< number of the next message
  std::uint64_t sums[2] = {0, 0};          ///< word_sum of messages with even and with odd numbers
  std::uint64_t checked_before = 0;        ///< messages with a lower number are all checked
  std::uint64_t check_every = 0;           ///< later ones are checked if their number is a multiple of this; 0: none
  std::uint64_t limit_ns = 0;              ///< the reader gives up after this time without a message
};

/// The results of a reader; initially zero.
struct ReaderFindings {
  std::uint64_t checked = 0;  ///< messages whose data were checked
  std::uint64_t wrong = 0;    ///< number of these with wrong data
  std::uint64_t first_wrong = 0;
  std::uint64_t expected = 0;  ///< sum of that message
  std::uint64_t got = 0;
  bool gave_up = false;  ///< no message came within the task's limit
};

/// The words in host memory by which reader and processor communicate. Words that either side polls are in separate
/// cache lines, so that a write to one does not take another away.
struct ReaderWords {
  alignas(128) std::uint64_t seen = 0;   ///< number of the last message that the reader saw
  alignas(128) std::uint64_t asked = 0;  ///< a flag that the processor writes to measure the round trip
  alignas(128) std::uint32_t abort = 0;  ///< not 0: the reader must end
  alignas(128) ReaderFindings findings;  ///< written when the reader ends
  std::uint32_t ended = 0;               ///< written last
};

/// Whether the flag's `number` announces message `next`. Lower numbers belong to earlier messages.
[[nodiscard]] constexpr bool has_come(std::uint64_t number, std::uint64_t next) {
  return static_cast<std::int64_t>(number - next) >= 0;
}

[[nodiscard]] constexpr bool is_checked(const ReaderTask& task, std::uint64_t number) {
  if (task.bytes == 0) return false;
  return number < task.checked_before || (task.check_every != 0 && number % task.check_every == 0);
}

[[nodiscard]] constexpr std::uint64_t words_of(std::uint64_t bytes) { return (bytes + 7) / 8; }

/// Word `index` of the data, read with `load(index)`; bytes of the last word beyond the message are cleared.
/// Little-endian, as on every supported machine.
template <typename Load>
[[nodiscard]] constexpr std::uint64_t word_of_data(Load load, std::uint64_t index, std::uint64_t bytes) {
  const std::uint64_t left = bytes - 8 * index;
  return left >= 8 ? load(index) : load(index) & ((std::uint64_t{1} << (8 * left)) - 1);
}

/// The sum, modulo 2^64, of every `step`-th word of `bytes` from word `first` on. The sums of all `first` below `step`
/// add up to word_sum.
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
