#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "common/core/memory.h"
#include "common/core/reader_task.h"
#include "common/core/units.h"

namespace fabricbench {

/// What messages are for: a kernel on a GPU, or a thread of the host in its place, that waits for them where they
/// arrive and tells the processor of each. It reads from `begin` to `end`. From one thread, but `abandon`. A reader is
/// destroyed before the memory that it watches.
class Reader {
 public:
  Reader() = default;
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  virtual ~Reader() = default;

  /// For people, such as `a kernel of GPU 0`.
  [[nodiscard]] virtual std::string description() const = 0;

  /// Starts to read. Throws Error (failure) where it cannot.
  void begin(const ReaderTask& task);
  [[nodiscard]] bool reads() const { return reads_; }
  /// Number of the last message seen; before the first one, the number before it.
  [[nodiscard]] std::uint64_t seen() const;
  /// Whether it has stopped by itself, which `end` says more of. Throws Error (failure) where its device failed.
  [[nodiscard]] bool has_stopped();
  /// Ends it where it still reads, and returns when it has. Throws Error.
  ReaderFindings end();
  /// Tells it to end, and waits a moment for that; from any thread.
  void abandon() noexcept;

  /// How long it takes from the processor's write of a word that the reader watches until the processor sees the
  /// reader's answer, in seconds: the median of so many times, of which each is waited for `limit` at most. Throws
  /// Error (timeout) where no answer comes. Not while it reads.
  [[nodiscard]] Seconds round_trip(int times, Seconds limit);

 protected:
  /// Shared with what reads.
  [[nodiscard]] virtual ReaderWords& words() const = 0;
  /// `words().asked` as what reads addresses it.
  [[nodiscard]] virtual std::uint64_t* asked() const = 0;
  /// Starts what reads, by `task`; it answers by `words()` and ends with `ended`.
  virtual void launch(const ReaderTask& task) = 0;
  /// Throws Error (failure) where what reads has failed without a word.
  virtual void look_after() {}
  /// Returns when what reads has gone, which was told to end, or did. Throws Error.
  virtual void join() = 0;

 private:
  std::atomic<bool> reads_ = false;
};

/// The sum, modulo 2^64, of the 64-bit words of `data`, the last one filled up with zeros.
[[nodiscard]] std::uint64_t word_sum(std::span<const std::byte> data);

/// Sums of two messages that differ in every byte.
struct TwinSums {
  std::uint64_t original = 0;
  std::uint64_t twin = 0;
};

/// Fills `twin`, as long as `original` and in the same memory, with the complement of every byte of it.
TwinSums make_twin(Memory& memory, std::span<const std::byte> original, std::span<std::byte> twin);

}  // namespace fabricbench
