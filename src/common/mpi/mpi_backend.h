#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "common/core/backend.h"
#include "common/mpi/block.h"
#include "common/mpi/communicator.h"
#include "common/mpi/reductions.h"

namespace fabricbench::mpi {

/// A rank's end of MPI. Every primitive is MPI's blocking call, but messages under way at once, which MPI completes in
/// `finish` at the latest.
class MpiBackend final : public Backend {
 public:
  /// `most_per_call`: elements that one MPI call may be given. MPI 3 counts in `int`, so longer
  /// operations are done in other ways (docs/decisions/0002-large-counts.md); tests lower it. `group` must outlive
  /// this. `copy_bytes` copies bytes within the memory that the buffers lie in.
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
  void all_to_all_v(const void* send, void* recv, const Exchange& exchange, DataType datatype) override;
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
  /// The arguments in which MPI is told of `count` elements; for one call, which may leave a message under way.
  struct Counted {
    int count;
    MPI_Datatype type;
  };
  void complete(std::vector<MPI_Request>& requests);
  [[nodiscard]] bool complete_by(std::vector<MPI_Request>& requests, Seconds deadline);
  [[nodiscard]] Counted counted(std::size_t count, DataType datatype);
  [[nodiscard]] Counted one_block(std::size_t count, MPI_Datatype element);
  void reduce_to(const void* send, void* recv, std::size_t count, DataType datatype, MPI_Op op, int root);
  void all_to_all_v_by_messages(const void* send, void* recv, const Exchange& exchange, DataType datatype);
  [[nodiscard]] const std::byte* place_in(const void* buffer, std::size_t count, DataType datatype, int rank) const;

  static void copy_on_host(const void* from, void* into, std::size_t bytes);

  MPI_Comm communicator_;
  int rank_;
  int ranks_;
  std::size_t most_per_call_;
  Copy copy_;
  ReductionTable reductions_;
  std::array<MPI_Datatype, kDataTypes.size()> types_;  // by DataType
  std::optional<Block> block_;                         // of the last count that one call could not be given
  std::vector<int> send_counts_;
  std::vector<int> send_offsets_;
  std::vector<int> recv_counts_;
  std::vector<int> recv_offsets_;
  std::vector<MPI_Request> sending_;    // of the messages under way
  std::vector<MPI_Request> receiving_;  // of the messages under way
  std::vector<MPI_Status> statuses_;    // at least as many as either
};

}  // namespace fabricbench::mpi
