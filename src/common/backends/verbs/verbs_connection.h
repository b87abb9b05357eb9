#pragma once

#include <endian.h>
#include <infiniband/verbs.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/backends/verbs/connect_info.h"
#include "common/backends/verbs/connection.h"
#include "common/backends/verbs/connector.h"
#include "common/backends/verbs/device.h"
#include "common/backends/verbs/port_meter.h"
#include "common/backends/verbs/registration.h"

namespace fabricbench::verbs {

// Requests as libibverbs wants them.

inline ibv_wr_opcode opcode_of(const Request& request) {
  switch (request.verb) {
    case Verb::kWrite: return request.immediate ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE;
    case Verb::kRead: return IBV_WR_RDMA_READ;
    case Verb::kAtomic:
      return request.atomic == AtomicKind::kFetchAndAdd ? IBV_WR_ATOMIC_FETCH_AND_ADD : IBV_WR_ATOMIC_CMP_AND_SWP;
    default: return request.immediate ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND;
  }
}

inline void set_target(const Request& request, ibv_send_wr& made) {
  if (request.verb == Verb::kAtomic) {
    made.wr.atomic.remote_addr = request.remote.address;
    made.wr.atomic.rkey = request.remote.key;
    const bool swaps = request.atomic == AtomicKind::kCompareAndSwap;
    made.wr.atomic.compare_add = swaps ? request.compare : 1;
    made.wr.atomic.swap = request.compare + 1;
  } else if (request.verb != Verb::kSend) {
    made.wr.rdma.remote_addr = request.remote.address;
    made.wr.rdma.rkey = request.remote.key;
  }
}

/// Fills in a work request and its single part, except for its number, the next request and the destination. Inline,
/// because it runs for every message.
inline void set_work_request(const Request& request, ibv_sge& part, ibv_send_wr& made) {
  part = {reinterpret_cast<std::uint64_t>(request.local.data), request.local.bytes, request.local.key};
  made.sg_list = &part;
  made.num_sge = request.local.bytes > 0 ? 1 : 0;
  made.opcode = opcode_of(request);
  made.send_flags = 0;
  if (request.signaled) made.send_flags |= IBV_SEND_SIGNALED;
  if (request.is_inline) made.send_flags |= IBV_SEND_INLINE;
  if (request.immediate) made.imm_data = htobe32(*request.immediate);
}

class ProviderTransport;

/// The number and sizes of queue pairs.
struct ConnectionSettings {
  Transport transport = Transport::kRc;
  Verb verb = Verb::kNone;  ///< of the requests; needed where only one provider has the transport
  int queue_pairs = 1;
  int depth = 1;
  int receive_depth = 0;         ///< per queue pair, or of the shared queue
  bool shared_receives = false;  ///< all queue pairs take their receives from one queue
  Bytes inline_bytes = 0;        ///< wanted; the device may give less
  bool events = false;
  bool one_at_a_time = false;  ///< one message at a time: polls for a single completion, which is faster
  bool data_direct = false;    ///< for blocks of GPU memory
  /// Registered blocks may be written to out of order (IBV_ACCESS_RELAXED_ORDERING), where device and kernel can.
  bool relaxed_order = false;
};

/// A Connection of libibverbs, with its classic calls, which every provider supports. One completion queue serves all
/// queue pairs, so that the first error is the cause of later ones.
class VerbsConnection : public Connection {
 public:
  /// Creates the queue pairs on an open device. Throws Error (missing) with the failed call and the reason.
  VerbsConnection(const OpenDevice& device, const ConnectionSettings& settings)
      : VerbsConnection(device, settings, nullptr) {}
  ~VerbsConnection() override { abandon(); }

  [[nodiscard]] ConnectInfo connect_info(const std::string& host) const;
  /// Gets ready to be connected to, as Connector::listen says.
  [[nodiscard]] virtual std::string listen(Connector& connector, const NegotiatedSettings& negotiated);
  /// Connects to the other rank's queue pairs, as Connector::connect says.
  virtual void connect(Connector& connector, const NegotiatedSettings& negotiated, const std::string& listen_info);
  /// The path MTU in bytes, once connected; 0: there is none.
  [[nodiscard]] int mtu() const { return connected_.mtu; }
  /// The largest message in bytes, once connected.
  [[nodiscard]] virtual Bytes largest_message() const;

  /// Registers a block of `source` for local and remote use. Throws Error (missing) with the reason if that fails.
  [[nodiscard]] Registration register_block(BufferSource& source, std::byte* data, std::size_t bytes) const;
  /// The same for this process's own memory.
  [[nodiscard]] MemoryRegion register_memory(std::byte* data, std::size_t bytes) const;
  /// Whether the bytes of a write into this end's memory arrive in their order, once connected; adaptive routing does
  /// not keep it. Empty: the device does not tell. Source: ibv_query_qp_data_in_order.
  [[nodiscard]] virtual std::optional<bool> keeps_order() const;
  /// The largest message that can be sent inline.
  [[nodiscard]] Bytes inline_bytes() const { return inline_bytes_; }
  /// Error counters that grew since the queue pairs were created.
  [[nodiscard]] std::string trouble() const;

  [[nodiscard]] int queue_pairs() const override { return static_cast<int>(queue_pairs_.size()); }
  void post(int queue_pair, std::span<const Request> requests) override;
  void make_ready(int queue_pair, std::span<const Request> requests, int each) override;
  [[gnu::hot]] void post_ready(int queue_pair, int count, std::uint64_t number, bool signaled) override;
  void post_receives(int queue, const LocalPart& into, int count, std::size_t distance) override;
  [[nodiscard]] std::span<const Completion> poll() override;
  [[nodiscard, gnu::hot]] std::uint64_t completed() override;
  void sleep(double at_most_s) override;
  [[nodiscard]] std::string diagnosis() override;

  /// Ends all operations in flight; from any thread. Otherwise a device keeps retransmitting unacknowledged packets.
  void abandon() noexcept;

 protected:
  /// With queue pairs that `provider` creates; null: libibverbs does.
  VerbsConnection(const OpenDevice& device, const ConnectionSettings& settings, ProviderTransport* provider);

  [[nodiscard]] OwnQueuePairs own_queue_pairs() const { return {device_, domain_.get(), queue_pairs_}; }
  /// Sets the numbers of the queue pairs in completions of shared receives.
  void know_numbers(std::span<const std::uint32_t> numbers);
  void be_connected(ConnectInfo peer, Connected connected);
  /// A request's number as completions of this queue pair have it.
  [[nodiscard]] static std::uint64_t identifier(int queue_pair, std::uint64_t number) {
    return (static_cast<std::uint64_t>(queue_pair) << kQueuePairShift) | number;
  }
  /// As poll.
  [[nodiscard]] std::span<Completion> take_completions();

 private:
  static constexpr int kMostPolled = 16;
  static constexpr int kQueuePairShift = 48;
  static constexpr std::uint64_t kNumberMask = (std::uint64_t{1} << kQueuePairShift) - 1;

  /// Requests that are posted together.
  struct SendList {
    std::vector<ibv_send_wr> requests;  // each points to the next one
    std::vector<ibv_sge> parts;
  };

  [[nodiscard]] static int queue_pair_in(std::uint64_t identifier);
  [[nodiscard]] int remote_access() const;
  /// A list of requests that are posted together, or the last ones of it.
  struct ReadyList {
    ibv_send_wr* end;
    const ReadyList* following;
  };
  struct ReadyLists {
    std::vector<ReadyList> lists;
    SendList requests;  // of all lists
  };

  void fill(SendList& list, int queue_pair, std::span<const Request> requests);
  void hand_over(int queue_pair, ibv_send_wr& first);
  [[nodiscard]] int poll_queue();
  void make_completion_queue(const ConnectionSettings& settings);
  void make_queue_pair(const ConnectionSettings& settings);
  [[nodiscard]] QueuePair try_queue_pair(const ConnectionSettings& settings, Bytes inlined) const;
  [[nodiscard]] QueuePair find_queue_pair(const ConnectionSettings& settings);
  void make_shared_receives(const ConnectionSettings& settings);
  [[nodiscard]] int queue_pair_of(const ibv_wc& completion) const;
  [[noreturn]] void failed(const ibv_wc& completion) const;
  [[nodiscard]] std::string peer_text(int queue_pair) const;

  const OpenDevice& device_;
  ConnectionSettings settings_;
  ProviderTransport* provider_;
  ProtectionDomain domain_;
  CompletionChannel channel_;
  CompletionQueue completions_;
  SharedReceiveQueue shared_receives_;
  std::vector<QueuePair> queue_pairs_;
  std::vector<std::pair<std::uint32_t, int>> by_number_;  // queue pairs by number, sorted
  std::vector<std::uint32_t> sequence_numbers_;
  Connected connected_;
  ConnectInfo peer_;
  Bytes inline_bytes_ = 0;
  PortCounters counters_before_;
  std::array<std::byte, 40> datagram_header_{};  // the GRH before every datagram, which is not used
  MemoryRegion header_region_;
  SendList posted_;                           // the last requests that were not ready
  std::vector<ReadyLists> ready_;             // by queue pair
  std::vector<const ReadyList*> next_ready_;  // the same
  std::vector<ibv_recv_wr> receives_;
  std::vector<std::array<ibv_sge, 2>> receive_parts_;  // of each, a datagram's header and the data
  int polled_at_once_;
  std::array<ibv_wc, kMostPolled> polled_{};
  std::array<Completion, kMostPolled> taken_{};
  bool awaits_event_ = false;
  std::atomic<bool> abandoned_ = false;
};

/// The connection that the transport in `settings` needs. Throws Error (missing), also where the device lacks that type
/// of connection, with the type that it has.
[[nodiscard]] std::unique_ptr<VerbsConnection> open_connection(const OpenDevice& device,
                                                               const ConnectionSettings& settings);

}  // namespace fabricbench::verbs
