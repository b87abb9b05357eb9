#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "common/core/ownership.h"
#include "common/core/rdma_options.h"

namespace fabricbench::verbs {

/// A range of registered memory of this process.
struct LocalPart {
  std::byte* data = nullptr;
  std::uint32_t bytes = 0;
  std::uint32_t key = 0;  ///< lkey
  bool on_host = true;    ///< whether the processor can copy it into a request for inline sending
};

/// The target of an operation in the other side's registered memory.
struct RemotePart {
  std::uint64_t address = 0;
  std::uint32_t key = 0;  ///< rkey
};

/// One work request of a send queue.
struct Request {
  Verb verb = Verb::kSend;
  LocalPart local;
  RemotePart remote;                       ///< write, read and atomic only
  std::optional<std::uint32_t> immediate;  ///< of a send or a write; such a write consumes a receive
  AtomicKind atomic = AtomicKind::kFetchAndAdd;
  std::uint64_t compare = 0;  ///< the value that a compare-and-swap expects; it writes this value plus 1
  bool is_inline = false;
  bool signaled = true;
  std::uint64_t number = 0;  ///< chosen by the caller, below 2^48; returned with the completion
};

/// The completion of a request or a receive.
struct Completion {
  bool received = false;                   ///< true: a receive; false: a signaled request
  int queue_pair = 0;                      ///< from 0
  std::uint64_t number = 0;                ///< of the request
  std::uint32_t bytes = 0;                 ///< of the receive
  std::optional<std::uint32_t> immediate;  ///< of the receive
};

/// One rank's queue pairs, connected to those of the other rank of its pair. Requests of one queue pair complete in
/// order. Problems, including failed completions, throw Error with the peer's name.
class Connection : public InterfaceBase {
 public:
  [[nodiscard]] virtual int queue_pairs() const = 0;
  /// Posts the requests with one call, in this order.
  virtual void post(int queue_pair, std::span<const Request> requests) = 0;
  /// Gets requests ready in lists of `each`, which are posted in turn, in the place of earlier ones. None is signaled.
  virtual void make_ready(int queue_pair, std::span<const Request> requests, int each) = 0;
  /// Posts the last `count` requests of the queue pair's next list with one call; the very last one has this number,
  /// and is signaled or not. The others are not signaled. Making a request each time would be most of our part of a
  /// short message.
  virtual void post_ready(int queue_pair, int count, std::uint64_t number, bool signaled) = 0;
  /// Posts `count` receives, each `distance` bytes behind the previous one; 0: all use the same buffer. `queue`: of
  /// that queue pair; 0 if they share a queue.
  virtual void post_receives(int queue, const LocalPart& into, int count, std::size_t distance) = 0;
  /// The completions of all queue pairs since the last call; does not wait. The span is valid until the next call.
  [[nodiscard]] virtual std::span<const Completion> poll() = 0;
  /// A faster form for a single queue pair without receives: the number of the newest completed request; 0: none.
  /// Earlier requests have completed too. Numbers begin with 1.
  [[nodiscard]] virtual std::uint64_t completed() = 0;
  /// Sleeps until a completion may have arrived, for at most this long. May return early once; the caller must then
  /// poll before it sleeps again.
  virtual void sleep(double at_most_s) = 0;
  /// Diagnosis if nothing completes any more: the peer, the port's state, counters that grew.
  [[nodiscard]] virtual std::string diagnosis() = 0;
};

}  // namespace fabricbench::verbs
