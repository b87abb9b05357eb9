#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "common/backends/cuda/memory.h"
#include "common/backends/cuda/stream.h"
#include "common/backends/nccl/communicators.h"
#include "common/backends/nccl/registrar.h"
#include "common/core/backend.h"

namespace fabricbench::nccl {

/// One rank of NCCL on its stream. If a process has several ranks, its calls are made between begin_group and end_group
/// of the session. Primitives that this NCCL lacks are groups of ncclSend and ncclRecv, as in NCCL itself; all_to_all_v
/// always is. The barrier is an all-reduce of one element, because NCCL has none.
///
/// A single send or recv is a group of its own, in the order of the stream. Messages in flight at once form one group
/// from the first start_send or start_recv to `finish`, together with everything else that the thread starts in
/// between. None of it is launched before `finish`, or before the end of the session's group if there is one. All
/// messages of a group are in flight at once, so a send and a recv that must follow each other are not in one group. A
/// rank's messages to itself are in a group, because NCCL refuses single ones.
class NcclBackend final : public CollectiveBackend {
 public:
  /// Does not own communicators and stream, which must outlive it.
  NcclBackend(const Communicators& communicators, int local_rank, cuda::DeviceStream stream);
  ~NcclBackend() override;

  /// Prepares mulsum for the datatype in advance. Later calls do nothing.
  void prepare_mulsum(DataType datatype);

  void all_reduce(const void* send, void* recv, std::size_t count, DataType datatype, Reduction reduction) override;
  void all_gather(const void* send, void* recv, std::size_t count, DataType datatype) override;
  void reduce_scatter(const void* send, void* recv, std::size_t count, DataType datatype, Reduction reduction) override;
  void broadcast(const void* send, void* recv, std::size_t count, DataType datatype, int root) override;
  void reduce(const void* send, void* recv, std::size_t count, DataType datatype, Reduction reduction,
              int root) override;
  void all_to_all(const void* send, void* recv, std::size_t count, DataType datatype) override;
  void all_to_all_v(const void* send, void* recv, const Exchange& exchange, DataType datatype) override;
  void gather(const void* send, void* recv, std::size_t count, DataType datatype, int root) override;
  void scatter(const void* send, void* recv, std::size_t count, DataType datatype, int root) override;
  void send_recv(const void* send, void* recv, std::size_t count, DataType datatype, Partners partners) override;
  void send(const void* buffer, std::size_t count, DataType datatype, int to) override;
  void recv(void* buffer, std::size_t count, DataType datatype, int from) override;
  void start_send(const void* buffer, std::size_t count, DataType datatype, int to) override;
  void start_recv(void* buffer, std::size_t count, DataType datatype, int from) override;
  void finish() override;
  void copy(const void* from, void* into, std::size_t bytes) override;
  void barrier() override;

 private:
  [[nodiscard]] ncclComm_t communicator() const { return communicators_->get(local_rank_); }
  [[nodiscard]] const LocalRank& local() const;
  [[nodiscard]] ncclRedOp_t operation(Reduction reduction, DataType datatype);
  void check_call(ncclResult_t result, const char* call) const;
  void send_part(const void* buffer, std::size_t count, DataType datatype, int to);
  void recv_part(void* buffer, std::size_t count, DataType datatype, int from);
  template <typename Message>
  void start_message(Message message);
  ncclResult_t close_window();

  const Communicators* communicators_;
  const Library* library_;
  const Functions& nccl_;
  int local_rank_;
  int ranks_;
  cudaStream_t stream_;
  cuda::DeviceBlock barrier_word_;
  std::array<std::optional<ncclRedOp_t>, kDataTypes.size()> mulsums_;
  bool window_open_ = false;  // whether our group is open until `finish`
};

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
