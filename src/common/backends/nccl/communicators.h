#pragma once

#include <atomic>
#include <climits>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/backends/nccl/library.h"
#include "common/core/ownership.h"
#include "common/core/units.h"

namespace fabricbench::nccl {

/// Runs `work` on a separate thread. Returns true when it has ended, and rethrows its exception. Returns false after
/// `limit` seconds, 0 for no limit: the thread then continues, so `work` must own everything it uses.
[[nodiscard]] bool finish_within(Seconds limit, std::function<void()> work);

/// ncclConfig_t with the members of NCCL 2.30, declared here so that an older nccl.h compiles too. This is safe in both
/// directions: a library copies no more than the smaller of `size` and its own size, and resets members newer than
/// `version` (parseCommConfig in NCCL's src/init.cc, the same from 2.18 to 2.30).
struct Config {
  static constexpr int kNotSet = INT_MIN;

  std::size_t size = sizeof(Config);
  unsigned int magic = 0xcafebeef;
  unsigned int version = 23000;

  int blocking = kNotSet;
  int cga_cluster_size = kNotSet;
  int min_ctas = kNotSet;
  int max_ctas = kNotSet;
  const char* net_name = nullptr;
  int split_share = kNotSet;
  int traffic_class = kNotSet;  // since 2.26
  const char* communicator_name = nullptr;
  int collnet_enable = kNotSet;
  int cta_policy = kNotSet;  // since 2.27
  int shrink_share = kNotSet;
  int nvls_ctas = kNotSet;
  int channels_per_net_peer = kNotSet;  // since 2.28
  int nvlink_centric = kNotSet;
  int graph_usage_mode = kNotSet;  // since 2.29
  int rma_contexts = kNotSet;
  int max_p2p_peers = kNotSet;  // since 2.30
};

/// One of this process's ranks.
struct LocalRank {
  int rank;           ///< NCCL's number
  int device;         ///< CUDA's number
  std::string place;  ///< for messages: `rank 3 on GPU 0 (0000:42:00.0)`
};

struct CommunicatorPlan {
  std::vector<LocalRank> local;
  int ranks = 1;  ///< over all processes
  Config config;
  bool in_parallel = false;  ///< on a thread each, instead of all in one group
  Seconds time_limit = 0;    ///< 0: none
};

/// The communicators of this process's ranks.
///
/// They are blocking ones: since 2.24, NCCL starts a thread at the end of every group of a non-blocking communicator,
/// which means at every operation (ncclGroupEndInternal in NCCL's src/group.cc), and refuses the next operation until
/// its caller has seen the last one started; we would measure that. And an existing communicator cannot be turned
/// into a blocking one. What bounds the calls instead is a thread for each that may wait for other processes:
/// initialising, registering and destroying. An operation's own call can wait too, for a peer that is not there when
/// NCCL connects to it; there the watchdog helps, which ends the job.
class Communicators : NotCopied {
 public:
  /// Collective over all processes. Throws Error: failure with NCCL's words, timeout after the time limit.
  Communicators(std::shared_ptr<const Library> library, const ncclUniqueId& id, CommunicatorPlan plan);
  /// Aborts where an exception is under way. Warns on stderr, and goes on, where NCCL does not end in time.
  ~Communicators();

  [[nodiscard]] int size() const { return static_cast<int>(plan_.local.size()); }
  [[nodiscard]] const CommunicatorPlan& plan() const { return plan_; }
  [[nodiscard]] const std::shared_ptr<const Library>& library() const { return library_; }
  /// Throws Error (failure) if they have been aborted.
  [[nodiscard]] ncclComm_t get(int local_rank) const {
    if (aborted()) [[unlikely]]
      throw_aborted();
    return (*handles_)[static_cast<std::size_t>(local_rank)];
  }

  /// An error of NCCL's threads, with the rank's place; empty if there is none.
  [[nodiscard]] std::string asynchronous_error() const;
  /// Aborts all communicators and their operations. From any thread, any number of times. Returns after 10 seconds even
  /// if NCCL does not.
  void abort() noexcept;
  [[nodiscard]] bool aborted() const { return aborted_.load(std::memory_order_relaxed); }

 private:
  using Handles = std::vector<ncclComm_t>;

  [[noreturn]] static void throw_aborted();
  void destroy() noexcept;

  std::shared_ptr<const Library> library_;
  CommunicatorPlan plan_;
  std::shared_ptr<Handles> handles_;  // shared with threads that may outlive this
  mutable std::mutex querying_;       // prevents an abort during a query
  std::atomic<bool> aborted_ = false;
};

}  // namespace fabricbench::nccl
