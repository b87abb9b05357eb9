// One rank of a fake communicator, and the work that its stream carries out.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nccl.h>

#include "faults.h"
#include "segment.h"

namespace fake_nccl {

/// A reduction made by ncclRedOpCreatePreMulSum.
struct MulSum {
  ncclDataType_t type;
  std::uint64_t scalar_bits;
  bool alive;
};

/// A symmetric window; its number is the same on all ranks.
struct Window {
  std::byte* block;
  std::size_t bytes;
};

/// What comes from a peer by one-sided operations.
struct Incoming {
  std::array<std::uint64_t, 3> header{};  ///< window, offset and bytes of the put that is coming in
  std::uint64_t left = 0;                 ///< of its bytes
  bool begun = false;
  std::uint64_t signals = 0;  ///< that have come and were not waited for
  std::byte* last = nullptr;  ///< the first byte of the last put
};

struct Rank {
  std::shared_ptr<Layout> shared;
  Address address{};
  int rank = 0;
  int ranks = 1;
  int device = 0;
  int most_peers = 1;  ///< ncclConfig_t::maxP2pPeers, or all ranks
  bool null = false;   ///< operations do nothing, at once (FAKE_NCCL_NULL=1)
  Fault fault;
  std::vector<MulSum> mulsums;
  void* profiler_context = nullptr;

  std::vector<Window> windows;  ///< in the order of registration
  std::array<Incoming, kMostRanks> incoming;
  Barrier device_barrier;
  Barrier host_barrier;
  std::int64_t calls = 0;       ///< of operations
  std::int64_t operations = 0;  ///< begun; on the stream's thread
  bool reversed = false;        ///< the current operation reduces from the last rank to the first
  std::atomic<bool> aborted = false;
  std::atomic<int> running = 0;
  std::atomic<int> recorded = 0;  ///< groups of operations in CUDA graphs that are alive
  std::atomic<int> async_result = ncclSuccess;
};

enum class Kind {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kBroadcast,
  kReduce,
  kAllToAll,
  kGather,
  kScatter,
  kSend,
  kRecv,
  kPut,  ///< `count` bytes, and a signal
  kWait  ///< for `count` signals
};

struct Operation {
  Kind kind;
  const std::byte* send;
  std::byte* recv;
  std::size_t count;
  ncclDataType_t type;
  ncclRedOp_t reduction;
  int root;                      ///< or the peer
  std::optional<MulSum> mulsum;  ///< as it was when the operation was started
  std::uint64_t window = 0;      ///< of a put: its number, and the place in it
  std::uint64_t offset = 0;
};

/// What one rank put into one group, in order. Runs on the stream's thread; returns early after an abort.
void run(Rank& rank, const std::vector<Operation>& operations, bool in_graph);

/// The parts of run: one collective, and all messages of a group at once. False after an abort.
[[nodiscard]] bool run_collective(Rank& rank, const Operation& operation);
[[nodiscard]] bool run_messages(Rank& rank, const std::vector<Operation>& messages);
/// A put, or a wait for signals.
[[nodiscard]] bool run_one_sided(Rank& rank, const Operation& operation);

/// Kept for ncclGetLastError, which is one for the whole process.
void set_last_error(const std::string& text);

[[nodiscard]] std::size_t element_bytes(ncclDataType_t type);

}  // namespace fake_nccl

/// What an ncclComm_t points to.
struct ncclComm {
  std::shared_ptr<fake_nccl::Rank> rank;
};
