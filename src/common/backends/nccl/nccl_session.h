#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/backends/cuda/clock.h"
#include "common/backends/cuda/memory.h"
#include "common/backends/cuda/stream.h"
#include "common/backends/nccl/communicators.h"
#include "common/backends/nccl/device_backend.h"
#include "common/backends/nccl/library.h"
#include "common/backends/nccl/nccl_backend.h"
#include "common/backends/nccl/registrar.h"
#include "common/core/error.h"
#include "common/core/options.h"
#include "common/core/session.h"
#include "common/core/units.h"

namespace fabricbench::nccl {

/// A process's use of its devices' memory, by purpose (-M): differences of free memory, which includes the use by
/// others.
class MemoryReport {
 public:
  /// Queries nothing and reports nothing unless `wanted`. Starts before the initialisation.
  MemoryReport(std::vector<int> devices, bool wanted);

  void end_initialisation();
  /// The free memory of each device now, for the two methods below.
  [[nodiscard]] std::vector<Bytes> free_now() const;
  void buffers_taken(const std::vector<Bytes>& free_before);
  void buffers_released(const std::vector<Bytes>& free_before);

  /// In nccl-tests' form: each figure is the largest over the process's devices, with buffers at their maximum.
  /// Collective is the memory taken after the initialisation, except for buffers.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<int> devices_;
  std::vector<Bytes> at_first_;
  std::vector<Bytes> after_initialisation_;
  std::vector<Bytes> in_buffers_;
  std::vector<Bytes> most_in_buffers_;
};

/// Three digits and B, KB, MB or GB in powers of 1024, as in nccl-tests.
[[nodiscard]] std::string memory_text(Bytes bytes);

/// A device's memory with blocks from ncclMemAlloc if NCCL has it, as registration requires and nccl-tests always does;
/// else from cudaMalloc.
class NcclMemory final : public cuda::CudaMemory {
 public:
  NcclMemory(std::shared_ptr<const Library> library, cuda::DeviceStream stream, Seconds limit);

  [[nodiscard]] std::byte* allocate(std::size_t bytes) override;
  void release(std::byte* block) noexcept override;

 private:
  std::shared_ptr<const Library> library_;
};

/// The processes that measure together, as one of them sees them, and what they measure, with functions to communicate
/// before NCCL is initialised.
struct ProcessGroup {
  int process = 0;
  int processes = 1;
  std::optional<int> process_in_job{};  ///< number for its ranks' names in messages, if the job has other processes too
  std::vector<int> devices;  ///< CUDA's numbers of this process's devices; every process has the same number of devices
  bool all_to_all = false;   ///< whether that is measured, for which -D 3 and 4 mean network adapters
  int most_peers = 0;        ///< other ranks with which a rank exchanges messages; 0: not known
  int sharing = 1;           ///< the number of processes that use the most shared of these devices
  bool is_isolated = false;  ///< whether operations are timed one by one
  std::vector<DataType> datatypes{DataType::kFloat};
  std::vector<Reduction> reductions{Reduction::kSum};
  Seconds timeout = 0;  ///< without progress; 0: no limit
  /// Copies process 0's bytes to every process. Collective, like `min`.
  std::function<void(std::span<std::byte>)> broadcast;
  /// The smallest of the processes' values, on every process.
  std::function<std::int64_t(std::int64_t)> min;
};

/// NCCL on this process's devices: rank process * devices + i is on its i-th device.
///
/// All calls come from one thread, except state(). If a process has several ranks, operations are started between
/// begin_group and end_group. A call reports NCCL's immediate errors; wait() finds later ones.
class NcclSession final : public Session, private ChoiceObserver {
 public:
  /// Collective. `library` has the same version on all processes; otherwise throws Error (missing). Choices can be
  /// observed only if wanted, because NCCL must then load a profiler plug-in, and only in one session at a time. Throws
  /// Error: usage for -D without -R 2, missing with the reason if library or device lack a feature, timeout, failure;
  /// perhaps earlier on one process than on others.
  NcclSession(std::shared_ptr<const Library> library, const ProcessGroup& group, const NcclOptions& options,
              bool choices_wanted = false);
  ~NcclSession() override;

  [[nodiscard]] std::string library() const override;
  [[nodiscard]] int nccl_version() const override { return library_->version(); }
  [[nodiscard]] Conventions conventions() const override;
  [[nodiscard]] std::string why_not(DataType datatype, Reduction reduction) const override;

  [[nodiscard]] int local_ranks() const override { return static_cast<int>(backends_.size()); }
  [[nodiscard]] std::vector<int> devices() const override;
  [[nodiscard]] Backend& backend(int local_rank) override { return *backends_[static_cast<std::size_t>(local_rank)]; }
  [[nodiscard]] Memory& memory(int local_rank) override { return *memories_[static_cast<std::size_t>(local_rank)]; }

  [[nodiscard]] std::vector<std::byte*> allocate(std::size_t bytes) override;
  void release(const std::vector<std::byte*>& blocks) noexcept override;
  /// The free memory of the fullest device now, less a sixteenth of its memory (at most 4 GiB) for NCCL's allocations
  /// when it first connects ranks, for each process that shares it.
  [[nodiscard]] std::optional<Bytes> device_memory() const override;

  void begin_group() override;
  void end_group() override;
  /// On error and on timeout, aborts the communicators and names rank, device and NCCL's last error.
  void wait() override;
  void limit_waits(Seconds limit) override { wait_limit_ = limit; }

  [[nodiscard]] DeviceClock* device_clock() override { return &*clock_; }

  [[nodiscard]] Recorder* recorder() override { return recording_ ? &*recording_ : nullptr; }
  [[nodiscard]] ChoiceObserver* choices() override { return why_no_choices_.empty() ? this : nullptr; }
  [[nodiscard]] std::string why_no_choices() const override { return why_no_choices_; }

  /// Of this process alone (MemoryReport).
  [[nodiscard]] std::string memory_usage() override { return memory_report_->text(); }
  [[nodiscard]] std::string state() const override;
  void abandon() noexcept override { abort(); }

 private:
  void observe(bool on) override;
  [[nodiscard]] std::optional<LibraryChoice> last() const override;
  void use_devices(const ProcessGroup& group);
  void make_backends(const ProcessGroup& group);
  void make_device_backends(const ProcessGroup& group);
  void make_put_backends(const ProcessGroup& group);
  void check_errors();
  void abort() noexcept;
  [[noreturn]] void give_up(const Error& problem);

  std::shared_ptr<const Library> library_;
  NcclOptions options_;
  int sharing_;
  /// Longer than the watchdog of any process waits (StallDetector::patience): the first one may be what does not come.
  Seconds wait_limit_;
  std::string why_no_choices_;
  int compute_capability_ = 0;  // of the oldest GPU of all processes: 90 is 9.0
  std::vector<LocalRank> local_;
  std::vector<cuda::Stream> streams_;
  std::vector<cuda::DeviceStream> views_;
  std::optional<cuda::CudaClock> clock_;
  std::vector<std::unique_ptr<NcclMemory>> memories_;
  std::optional<MemoryReport> memory_report_;
  std::optional<Communicators> communicators_;
  std::optional<Registrar> registrar_;
  std::optional<DeviceCommunicators> device_communicators_;  // only with -D
  std::vector<std::unique_ptr<Backend>> backends_;
  // Destroyed before the communicators, because destroying or aborting one waits for every CUDA graph with its
  // operations.
  std::optional<cuda::Recording> recording_;
  std::function<void()> poll_;  // created once, because wait() allocates nothing
  Seconds next_error_check_ = 0;
};

}  // namespace fabricbench::nccl
