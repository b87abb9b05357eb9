#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/core/backend.h"
#include "common/core/memory.h"
#include "common/core/units.h"

namespace fabricbench {

/// What libraries define differently.
struct Conventions {
  bool broadcast_copies_at_root = true;  ///< out of place, the root's own `recv` is written too
  /// In place, a rank's reduced block lies at its own place in `send` (NCCL), not at the beginning (MPI).
  bool reduce_scatter_stays_in_block = true;
  int average_tolerance = 0;  ///< representable values that a floating-point avg may be away from the exact one
};

/// A clock that runs where the operations do. Marks stand among the operations of every rank of this process.
class DeviceClock {
 public:
  DeviceClock() = default;
  DeviceClock(const DeviceClock&) = delete;
  DeviceClock& operator=(const DeviceClock&) = delete;
  virtual ~DeviceClock() = default;

  /// Forgets all marks.
  virtual void reset() = 0;
  /// Sets a mark behind what has been started so far.
  virtual void mark() = 0;
  /// The time from each mark to the next, for each of this process's ranks; after Session::wait.
  [[nodiscard]] virtual std::vector<std::vector<Seconds>> intervals() = 0;

  /// Holds back, on the device, what is started from now on, until the gate is opened. So a measured operation
  /// does not contain its own launch.
  virtual void close_gate() = 0;
  virtual void open_gate() = 0;
};

/// What the library chose for an operation, in its own words.
struct LibraryChoice {
  std::string algorithm;
  std::string protocol;
  int channels = 0;  ///< 0: not known
};

/// This process's ranks of the library being measured: one, or as many as it drives devices.
class Session {
 public:
  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  virtual ~Session() = default;

  /// The library's name and version, for people.
  [[nodiscard]] virtual std::string library() const = 0;
  /// NCCL's version as it counts them, such as 22809; 0: this is not NCCL.
  [[nodiscard]] virtual int nccl_version() const { return 0; }
  [[nodiscard]] virtual Conventions conventions() const { return {}; }
  /// Of a message; nothing where there is no limit. The same on every process.
  [[nodiscard]] virtual std::optional<Bytes> most_bytes() const { return std::nullopt; }
  /// Why the library, or a device, cannot work with the two together; empty where it can. The same on every process.
  [[nodiscard]] virtual std::string why_not(DataType /*datatype*/, Reduction /*reduction*/) const { return ""; }

  /// The same on every process.
  [[nodiscard]] virtual int local_ranks() const { return 1; }
  /// CUDA's number of the device of each of this process's ranks; empty where they use none.
  [[nodiscard]] virtual std::vector<int> devices() const { return {}; }
  [[nodiscard]] virtual Backend& backend(int local_rank) = 0;
  [[nodiscard]] virtual Memory& memory(int local_rank) = 0;

  /// A block on each of this process's ranks, registered with the library where that was asked for. Collective.
  /// Throws Error (missing) with the size where there is not so much memory.
  [[nodiscard]] virtual std::vector<std::byte*> allocate(std::size_t bytes) = 0;
  virtual void release(const std::vector<std::byte*>& blocks) noexcept = 0;
  /// Bytes that a rank may take of its device; nothing where buffers lie in the host's memory.
  [[nodiscard]] virtual std::optional<Bytes> device_memory() const { return std::nullopt; }

  /// What is started between the two is launched together.
  virtual void begin_group() {}
  virtual void end_group() {}
  /// Returns when everything started on this process's ranks has completed. Throws Error where it failed, or where
  /// it takes longer than the time limit.
  virtual void wait() = 0;
  /// The time limit of `wait` from now on, in seconds, for what takes shorter than the run as a whole may.
  virtual void limit_waits(Seconds /*limit*/) {}

  /// Nothing where the host's clock is the only one.
  [[nodiscard]] virtual DeviceClock* device_clock() { return nullptr; }

  /// Whether what is started can be recorded once and launched as a whole; then the three methods work.
  [[nodiscard]] virtual bool can_record() const { return false; }
  virtual void begin_recording() {}
  virtual void end_recording() {}
  virtual void launch_recording() {}

  /// Takes note of what the library chooses for the operations started from now on, or stops that.
  virtual void observe_choices(bool /*on*/) {}
  /// What was chosen last while observed; nothing where the library does not say.
  [[nodiscard]] virtual std::optional<LibraryChoice> last_choice() const { return std::nullopt; }
  /// Why choices cannot be observed; empty where they can.
  [[nodiscard]] virtual std::string why_no_choices() const { return "this library does not tell what it chose"; }

  /// TCP segments that this process has sent again so far; nothing where that is not known.
  [[nodiscard]] virtual std::optional<std::uint64_t> retransmitted_segments() const { return std::nullopt; }

  /// Bytes per second of the largest message over the same adapters where its buffers lie in the host's memory; 0 where
  /// that was not measured. The same on both ranks of a pair.
  [[nodiscard]] virtual double host_memory_rate() const { return 0; }
  /// What is in the way between this process's memory and its adapter, a sentence each.
  [[nodiscard]] virtual std::vector<std::string> obstacles() const { return {}; }
  /// From the processor's write of a word until it sees the answer of what messages are for; nothing where that was not
  /// measured.
  [[nodiscard]] virtual std::optional<Seconds> reader_round_trip() const { return std::nullopt; }
  /// Messages that were to arrive here so far and did not; nothing where the library loses none.
  [[nodiscard]] virtual std::optional<std::uint64_t> lost_messages() const { return std::nullopt; }

  /// What the user should know of this process's part in the run, for the end of the report; empty: nothing.
  [[nodiscard]] virtual std::string remark() const { return ""; }
  /// One line on what was allocated for what; empty where it was not asked for.
  [[nodiscard]] virtual std::string memory_usage() { return ""; }
  /// Where this process's ranks stand, for the report of a hang: device, the library's last error. May be called
  /// from another thread while the main thread waits.
  [[nodiscard]] virtual std::string state() const { return ""; }
  /// Gives up what is under way, before the job ends.
  virtual void abandon() noexcept {}
};

/// Blocks of one size, one on each of a process's ranks, released with the object.
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
