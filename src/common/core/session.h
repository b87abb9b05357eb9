#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/core/backend.h"
#include "common/core/memory.h"
#include "common/core/ownership.h"
#include "common/core/units.h"

namespace fabricbench {

/// Details that libraries define differently.
struct Conventions {
  bool broadcast_copies_at_root = true;  ///< out of place, the root's own `recv` is written too
  /// In place, a rank's reduced block stays at its own place in `send` (NCCL) instead of moving to the beginning (MPI).
  bool reduce_scatter_stays_in_block = true;
  Average average = Average::kDividesSum;
};

/// A clock that runs where the operations run. Marks are placed among the operations of every rank of this process.
class DeviceClock : public InterfaceBase {
 public:
  /// Makes room for this many marks, so that placing them takes no more time than it must.
  virtual void reserve(std::size_t marks) = 0;
  /// Forgets all marks.
  virtual void reset() = 0;
  /// Places a mark after everything started so far.
  virtual void mark() = 0;
  /// The time between consecutive marks, for each of this process's ranks; valid after Session::wait.
  [[nodiscard]] virtual std::vector<std::vector<Seconds>> intervals() = 0;
  /// The clock's step: intervals that differ by less look the same, and a shorter one may be 0.
  [[nodiscard]] virtual Seconds resolution() const = 0;

  /// Holds back, on the device, everything started from now on, until the gate is opened. This keeps launch overhead
  /// out of the measured operation.
  virtual void close_gate() = 0;
  virtual void open_gate() = 0;
};

/// Records operations once and launches them as a whole.
class Recorder {
 public:
  /// Drops the previous recording. Operations started from now on are recorded instead of executed.
  virtual void begin() = 0;
  virtual void end() = 0;
  virtual void launch() = 0;

 protected:
  ~Recorder() = default;
};

/// The library's choice for an operation, in its own words.
struct LibraryChoice {
  std::string algorithm;
  std::string protocol;
  int channels = 0;  ///< 0: unknown
};

/// Tells the library's choices.
class ChoiceObserver {
 public:
  /// Starts or stops the observation of operations that start from now on.
  virtual void observe(bool on) = 0;
  /// The last choice observed; empty: none yet.
  [[nodiscard]] virtual std::optional<LibraryChoice> last() const = 0;

 protected:
  ~ChoiceObserver() = default;
};

/// Counts since a session was opened; empty where the library does not count.
struct TransportCounters {
  std::optional<std::uint64_t> retransmitted_segments{};  ///< TCP segments that this process sent again
  std::optional<std::uint64_t> lost_messages{};           ///< messages that should have arrived here and did not
  /// RDMA with several queue pairs: messages of this process that were carried out, by queue pair; else empty.
  std::vector<std::uint64_t> messages_by_queue_pair{};
  std::optional<std::uint64_t> background_bytes{};  ///< of the stream that this process keeps up beside messages
  std::optional<Seconds> background_time{};         ///< since that stream began
};

/// The path between a process's memory and its adapter, as far as it was examined.
struct MemoryPath {
  /// Bytes per second of the largest message over the same adapters with buffers in host memory; 0: not measured. The
  /// same on both ranks of a pair.
  double host_memory_rate = 0;
  std::vector<std::string> obstacles{};  ///< a sentence each
  /// From the processor's write of a word until it sees the reader's answer; empty: not measured.
  std::optional<Seconds> reader_round_trip{};
};

/// This process's ranks of the library being measured: one, or one per device that it drives.
class Session : public InterfaceBase {
 public:
  /// The library's name and version, for messages.
  [[nodiscard]] virtual std::string library() const = 0;
  /// NCCL's version as NCCL counts it, such as 22809; 0: not NCCL.
  [[nodiscard]] virtual int nccl_version() const { return 0; }
  [[nodiscard]] virtual Conventions conventions() const { return {}; }
  /// The largest message; empty: no limit. The same on every process.
  [[nodiscard]] virtual std::optional<Bytes> most_bytes() const { return std::nullopt; }
  /// Why the library or a device does not support this combination; empty if it does. The same on every process.
  [[nodiscard]] virtual std::string why_not(DataType /*datatype*/, Reduction /*reduction*/) const { return ""; }

  /// The distance in bytes of the places of two messages of this size, if each has a place of its own.
  [[nodiscard]] virtual Bytes distance_of(Bytes size) const { return size; }

  /// The same on every process.
  [[nodiscard]] virtual int local_ranks() const { return 1; }
  /// CUDA's number of the device of each of this process's ranks; empty if they use none.
  [[nodiscard]] virtual std::vector<int> devices() const { return {}; }
  [[nodiscard]] virtual Backend& backend(int local_rank) = 0;
  [[nodiscard]] virtual Memory& memory(int local_rank) = 0;

  /// Allocates a block for each of this process's ranks, registered with the library if that was asked for. Collective.
  /// Throws Error (missing) with the size if memory is short.
  [[nodiscard]] virtual std::vector<std::byte*> allocate(std::size_t bytes) = 0;
  virtual void release(const std::vector<std::byte*>& blocks) noexcept = 0;
  /// Bytes of device memory that a rank may allocate; empty if buffers are in host memory.
  [[nodiscard]] virtual std::optional<Bytes> device_memory() const { return std::nullopt; }

  /// Everything started between the two calls is launched together.
  virtual void begin_group() {}
  virtual void end_group() {}
  /// Returns once everything started on this process's ranks has completed. Throws Error if it failed or exceeded the
  /// time limit.
  virtual void wait() = 0;
  /// Sets the time limit of `wait` in seconds, for work that must take less time than the run as a whole.
  virtual void limit_waits(Seconds /*limit*/) {}

  /// Null if the host's clock is the only one.
  [[nodiscard]] virtual DeviceClock* device_clock() { return nullptr; }

  /// Null if operations cannot be recorded.
  [[nodiscard]] virtual Recorder* recorder() { return nullptr; }
  /// Null if the library does not tell its choices.
  [[nodiscard]] virtual ChoiceObserver* choices() { return nullptr; }
  /// Why there is no observer of choices; empty if there is one.
  [[nodiscard]] virtual std::string why_no_choices() const { return "this library does not tell what it chose"; }
  [[nodiscard]] virtual TransportCounters counters() const { return {}; }
  [[nodiscard]] virtual MemoryPath memory_path() const { return {}; }

  /// A note on this process's part in the run, for the end of the report; empty: none.
  [[nodiscard]] virtual std::string remark() const { return ""; }
  /// One line on allocated memory by purpose; empty if it was not asked for.
  [[nodiscard]] virtual std::string memory_usage() { return ""; }
  /// The state of this process's ranks for the report of a hang: device, the library's last error. May be called from
  /// another thread while the main thread waits.
  [[nodiscard]] virtual std::string state() const { return ""; }
  /// Gives up the operations in flight, before the job ends.
  virtual void abandon() noexcept {}
};

/// Equal blocks, one for each of a process's ranks, released with the object.
class Buffers {
 public:
  Buffers(Session& session, std::size_t bytes) : session_(&session), bytes_(bytes), blocks_(session.allocate(bytes)) {}
  Buffers(Buffers&& other) noexcept
      : session_(other.session_), bytes_(other.bytes_), blocks_(std::exchange(other.blocks_, {})) {}
  Buffers& operator=(Buffers&&) = delete;
  ~Buffers() {
    if (!blocks_.empty()) session_->release(blocks_);
  }

  [[nodiscard]] std::span<std::byte> on(int local_rank) const {
    return {blocks_[static_cast<std::size_t>(local_rank)], bytes_};
  }

 private:
  Session* session_;
  std::size_t bytes_;
  std::vector<std::byte*> blocks_;
};

}  // namespace fabricbench
