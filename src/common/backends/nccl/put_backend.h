#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "common/backends/cuda/stream.h"
#include "common/backends/nccl/communicators.h"
#include "common/backends/nccl/nccl_backend.h"
#include "common/backends/nccl/registrar.h"
#include "common/core/backend.h"

namespace fabricbench::nccl {

/// Why NCCL cannot write into peers' memory here; empty if it can, and where it does not tell. Of this process alone.
[[nodiscard]] std::string why_not_one_sided(const Communicators& communicators);

/// One rank's messages, each written into the receiver's memory by the sender, with a signal for which the receiver
/// waits (--one-sided). Buffers lie in symmetric windows, at the same place on all ranks. A message from an offset of
/// the send buffer of `prepare` goes to the same offset of the peer's receive buffer. Messages in flight at once are
/// puts of one group, and one wait for all their signals; an empty message is a signal alone.
class PutBackend final : public Backend {
 public:
  /// Does not own its arguments, which must outlive it. `meet` returns once every process has called it: a message may
  /// come without the receiver's doing, and must not come before its buffers are ready.
  PutBackend(const Communicators& communicators, const Registrar& registrar, int local_rank, cuda::DeviceStream stream,
             std::function<void()> meet);
  ~PutBackend() override;

  void prepare(std::span<const std::byte> send, std::span<std::byte> recv) override;
  void send(const void* buffer, std::size_t count, DataType datatype, int to) override;
  void recv(void* buffer, std::size_t count, DataType datatype, int from) override;
  void start_send(const void* buffer, std::size_t count, DataType datatype, int to) override;
  void start_recv(void* buffer, std::size_t count, DataType datatype, int from) override;
  void finish() override;
  void barrier() override { plain_.barrier(); }

 private:
  void wait_for(AwaitedSignals awaited);
  ncclResult_t close_group();
  void check_call(ncclResult_t result, const char* call) const;

  const Communicators* communicators_;
  const Library* library_;
  const Registrar* registrar_;
  int local_rank_;
  cudaStream_t stream_;
  NcclBackend plain_;
  std::function<void()> meet_;
  std::span<const std::byte> send_;
  nccl_device::Place recv_{};
  AwaitedSignals awaited_{.count = 0, .peer = 0};  // of the window; a rank has one peer
  bool group_open_ = false;                        // whether our group is open until `finish`
};

}  // namespace fabricbench::nccl
