#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include <mpi.h>

#include "common/core/backend.h"
#include "common/core/datatype.h"
#include "common/core/ownership.h"
#include "common/core/session.h"
#include "common/mpi/communicator.h"

namespace fabricbench::mpi {

/// An MPI datatype of many consecutive elements, so that a call's count can be 1: MPI 3 counts in `int`.
class Block : NotCopied {
 public:
  Block(MPI_Datatype element, std::size_t elements);
  ~Block();

  [[nodiscard]] MPI_Datatype get() const { return type_; }
  [[nodiscard]] bool is(MPI_Datatype element, std::size_t elements) const {
    return element == element_ && elements == elements_;
  }

 private:
  MPI_Datatype element_;
  std::size_t elements_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// The MPI datatype that carries elements of `type`. MPI has no half and no bfloat16: they are sent as 16-bit integers
/// and reduced by our own operations.
[[nodiscard]] MPI_Datatype mpi_datatype(DataType type);

/// The MPI operations for half and bfloat16, and MPI's own for all other types. avg is a sum here, because the division
/// is not a reduction; the backend divides at the end.
class ReductionTable : NotCopied {
 public:
  ReductionTable();
  ~ReductionTable();

  [[nodiscard]] MPI_Op find(DataType type, Reduction reduction) const {
    return ops_[static_cast<std::size_t>(type)][static_cast<std::size_t>(reduction)];
  }

 private:
  MPI_Op ops_[kDataTypes.size()][names_of(Reduction{}).size()];
};

/// A rank's end of MPI. Every primitive is MPI's blocking call, except for messages in flight at once, which complete
/// in `finish` at the latest.
class MpiBackend final : public CollectiveBackend {
 public:
  /// `most_per_call`: maximum number of elements in one MPI call. MPI 3 counts in `int`, so longer operations are split
  /// or use other types (docs/decisions/0002-large-counts.md); tests lower the limit. `group` must outlive this.
  /// `copy_bytes` copies bytes within the buffers' memory.
  using Copy = void (*)(const void* from, void* into, std::size_t bytes);
  explicit MpiBackend(const Communicator& group, std::size_t most_per_call = std::size_t{1} << 30,
                      Copy copy_bytes = &copy_on_host);

  void all_reduce(const void* send, void* recv, std::size_t count, DataType datatype, Reduction reduction) override;
  void all_gather(const void* send, void* recv, std::size_t count, DataType datatype) override;
  void reduce_scatter(const void* send, void* recv, std::size_t count, DataType datatype, Reduction reduction) override;
  void broadcast(const void* send, void* recv, std::size_t count, DataType datatype, int root) override;
  void reduce(const void* send, void* recv, std::size_t count, DataType datatype, Reduction reduction,
              int root) override;
  void all_to_all(const void* send, void* recv, std::size_t count, DataType datatype) override;
  void all_to_all_v(const void* send, void* recv, const AllToAllVCounts& counts, DataType datatype) override;
  void gather(const void* send, void* recv, std::size_t count, DataType datatype, int root) override;
  void scatter(const void* send, void* recv, std::size_t count, DataType datatype, int root) override;
  void send_recv(const void* send, void* recv, std::size_t count, DataType datatype, Partners partners) override;
  void send(const void* buffer, std::size_t count, DataType datatype, int to) override;
  void recv(void* buffer, std::size_t count, DataType datatype, int from) override;
  void start_send(const void* buffer, std::size_t count, DataType datatype, int to) override;
  void start_recv(void* buffer, std::size_t count, DataType datatype, int from) override;
  void finish() override;
  bool finish_by(Seconds deadline) override;
  bool finish_receiving() override;
  void copy(const void* from, void* into, std::size_t bytes) override;
  void barrier() override;

 private:
  /// `count` elements as MPI's arguments, for one call, which may leave a message in flight.
  struct Counted {
    int count;
    MPI_Datatype type;
  };
  void complete(std::vector<MPI_Request>& requests);
  [[nodiscard]] bool complete_by(std::vector<MPI_Request>& requests, Seconds deadline);
  [[nodiscard]] Counted counted(std::size_t count, DataType datatype);
  [[nodiscard]] Counted one_block(std::size_t count, MPI_Datatype element);
  void reduce_to(const void* send, void* recv, std::size_t count, DataType datatype, MPI_Op op, int root);
  void all_to_all_v_by_messages(const void* send, void* recv, const AllToAllVCounts& counts, DataType datatype);
  [[nodiscard]] const std::byte* place_in(const void* buffer, std::size_t count, DataType datatype, int rank) const;

  static void copy_on_host(const void* from, void* into, std::size_t bytes);

  MPI_Comm communicator_;
  int rank_;
  int ranks_;
  std::size_t most_per_call_;
  Copy copy_;
  ReductionTable reductions_;
  std::array<MPI_Datatype, kDataTypes.size()> types_;  // by DataType
  std::optional<Block> block_;                         // for the last count above the limit of one call
  std::vector<int> send_counts_;
  std::vector<int> send_offsets_;
  std::vector<int> recv_counts_;
  std::vector<int> recv_offsets_;
  std::vector<MPI_Request> sending_;    // requests of messages in flight
  std::vector<MPI_Request> receiving_;  // requests of messages in flight
  std::vector<MPI_Status> statuses_;    // at least as many as in either
};

/// MPI on host memory: one rank per process, and calls that have completed when they return.
class MpiSession final : public Session {
 public:
  /// `group` must outlive this.
  explicit MpiSession(const Communicator& group) : backend_(group) {}

  [[nodiscard]] std::string library() const override;
  [[nodiscard]] Conventions conventions() const override;
  [[nodiscard]] std::string why_not(DataType datatype, Reduction reduction) const override;
  [[nodiscard]] Backend& backend(int /*local_rank*/) override { return backend_; }
  [[nodiscard]] Memory& memory(int /*local_rank*/) override { return memory_; }
  [[nodiscard]] std::vector<std::byte*> allocate(std::size_t bytes) override;
  void release(const std::vector<std::byte*>& blocks) noexcept override;
  void wait() override {}

 private:
  MpiBackend backend_;
  HostMemory memory_;
};

/// Why MPI does not support the combination, in any memory; empty if it does.
[[nodiscard]] std::string why_not(DataType datatype, Reduction reduction);

/// MPI's definitions where libraries differ.
[[nodiscard]] Conventions conventions();

}  // namespace fabricbench::mpi
