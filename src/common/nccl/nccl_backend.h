#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "common/core/backend.h"
#include "common/core/units.h"
#include "common/cuda/memory.h"
#include "common/cuda/stream.h"
#include "common/nccl/communicators.h"

namespace fabricbench::nccl {

/// One rank of NCCL on its stream. Where a process has several ranks, its calls stand between begin_group and
/// end_group of the session. Primitives that this NCCL lacks are groups of ncclSend and ncclRecv, as its own are; an
/// all_to_all_v is always one. The barrier is an all-reduce of one element, since NCCL has none.
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
  void copy(const void* from, void* into, std::size_t bytes) override;
  void barrier() override;

 private:
  [[nodiscard]] ncclComm_t communicator() const { return communicators_->get(local_rank_); }
  [[nodiscard]] const LocalRank& local() const;
  [[nodiscard]] ncclRedOp_t operation(Reduction reduction, DataType datatype);
  void check_call(ncclResult_t result, const char* call) const;
  void start_send(const void* buffer, std::size_t count, DataType datatype, int peer);
  void start_recv(void* buffer, std::size_t count, DataType datatype, int peer);

  const Communicators* communicators_;
  const Library* library_;
  const Functions& nccl_;
  int local_rank_;
  int ranks_;
  cudaStream_t stream_;
  cuda::DeviceBlock barrier_word_;
  std::array<std::optional<ncclRedOp_t>, kDataTypes.size()> mulsums_;
};

}  // namespace fabricbench::nccl
