#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "common/backends/cuda/memory.h"
#include "common/backends/cuda/stream.h"
#include "common/backends/nccl/communicators.h"
#include "common/core/backend.h"
#include "common/core/units.h"

namespace fabricbench::nccl {

/// One rank of NCCL on its stream. Where a process has several ranks, its calls stand between begin_group and
/// end_group of the session. Primitives that this NCCL lacks are groups of ncclSend and ncclRecv, as its own are; an
/// all_to_all_v is always one. The barrier is an all-reduce of one element, since NCCL has none.
///
/// A send or recv alone is a group of its own, in the order of the stream. Messages under way at once are one group
/// from the first start_send or start_recv to `finish`, and so is what else the thread starts between the two; nothing
/// of it is launched before `finish`, and where that stands in a group of the session, not before that one ends. Within
/// a group all messages are under way at once: a send and a recv that are to happen one after the other are not in one.
/// A rank's messages to itself are in a group, since NCCL refuses a lone one.
class NcclBackend final : public Backend {
 public:
  /// Owns neither communicators nor stream, which live longer.
  NcclBackend(const Communicators& communicators, int local_rank, cuda::DeviceStream stream);
  ~NcclBackend() override;

  /// Makes what a mulsum of the datatype needs, so that no operation has to. Later calls do nothing.
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
  bool window_open_ = false;  // a group of ours waits for `finish`
};

}  // namespace fabricbench::nccl
