#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "common/core/rdma_options.h"

namespace fabricbench::verbs {

/// A stretch of registered memory of this process.
struct LocalPart {
  std::byte* data = nullptr;
  std::uint32_t bytes = 0;
  std::uint32_t key = 0;  ///< lkey
  bool on_host = true;    ///< whether the processor can copy it into a request, to be sent inline
};

/// Where in the other side's registered memory an operation works.
struct RemotePart {
  std::uint64_t address = 0;
  std::uint32_t key = 0;  ///< rkey
};

/// One work request of a send queue.
struct Request {
  Verb verb = Verb::kSend;
  LocalPart local;
  RemotePart remote;                       ///< of write, read and atomic
  std::optional<std::uint32_t> immediate;  ///< of send, and of write, which then takes a receive on the other side
  AtomicKind atomic = AtomicKind::kFetchAndAdd;
  std::uint64_t compare = 0;  ///< the value that a compare-and-swap expects; it writes one more
  bool is_inline = false;
  bool signaled = true;
  std::uint64_t number = 0;  ///< the caller's, below 2^48; its completion gives it back
};

/// What became of a request or a receive.
struct Completion {
  bool received = false;                   ///< a receive; else a signaled request
  int queue_pair = 0;                      ///< from 0
  std::uint64_t number = 0;                ///< of a request
  std::uint32_t bytes = 0;                 ///< of a receive
  std::optional<std::uint32_t> immediate;  ///< of a receive
};

/// One rank's queue pairs, connected to those of the other rank of its pair. Requests of one queue pair complete in
/// order. Problems, completions with an error among them, throw Error that names the peer.
class Endpoint {
 public:
  Endpoint() = default;
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;
  virtual ~Endpoint() = default;

  [[nodiscard]] virtual int queue_pairs() const = 0;
  /// Hands requests over at once, in this order.
  virtual void post(int queue_pair, std::span<const Request> requests) = 0;
  /// Where there is one queue pair: hands the request that was posted last, by itself, over once more, under another
  /// number.
  virtual void post_again(std::uint64_t number) = 0;
  /// Makes room for `count` messages, all in the same place. `queue`: of that queue pair; 0 where they share one.
  virtual void post_receives(int queue, const LocalPart& into, int count) = 0;
  /// What has completed since the last call, of all queue pairs; does not wait. The span lives until the next call.
  [[nodiscard]] virtual std::span<const Completion> poll() = 0;
  /// The same where there is one queue pair and nothing is received, without making more of it than is asked: the
  /// number of the newest request that has completed; 0: none. Others completed before it. Numbers begin with 1.
  [[nodiscard]] virtual std::uint64_t completed() = 0;
  /// Sleeps until something may have completed, for so long at most. Returns early, once, where the caller has to look
  /// for completions again before it may sleep.
  virtual void sleep(double at_most_s) = 0;
  /// What is known of the trouble where nothing completes any more: the peer, the port's state, counters that grew.
  [[nodiscard]] virtual std::string diagnosis() = 0;
};

}  // namespace fabricbench::verbs
