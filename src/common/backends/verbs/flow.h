#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/backends/verbs/connection.h"
#include "common/backends/verbs/datagrams.h"
#include "common/core/rdma_options.h"
#include "common/core/units.h"

namespace fabricbench::verbs {

/// The settings of the messages between two connections; the same on both.
struct FlowSettings {
  Verb verb = Verb::kSend;
  Transport transport = Transport::kRc;
  bool latency = false;  ///< one message at a time
  RdmaOptions options{};
  Bytes inline_bytes = 0;           ///< messages up to this size are sent inline
  std::int64_t receive_depth = 0;   ///< per queue pair, or of the shared queue; 0: messages need no receives
  Seconds datagram_patience = 0.1;  ///< a datagram that does not arrive within this time is lost
};

/// Keeps a window of requests on each queue pair, and counts the messages expected from the other side. Messages are
/// distributed over the queue pairs in turn. Allocates nothing while messages are sent. Throws Error (timeout) if
/// nothing completes within RdmaOptions::stall_timeout.
class Flow {
 public:
  Flow(Connection& connection, const FlowSettings& settings);

  /// Sets the buffer for all messages from now on, and fills the receive queues once.
  void receive_into(const LocalPart& buffer);

  /// Posts a message, together with others if a list is to be posted at once; waits while the queue is full.
  void start(const LocalPart& local, const RemotePart& remote);
  /// Starts the last message again. Returns false, and does nothing, if that needs more than the same request with
  /// another number. Building a request each time would be a considerable part of our overhead on a short message.
  bool start_again() {
    Lane& lane = lanes_.front();
    if (!repeats_ || lane.posted == 0 || lane.posted - lane.completed >= depth_) return false;
    ++lane.posted;
    ++lane.counted;
    ++under_way_;
    connection_.post_again(lane.posted);
    return true;
  }
  /// Posts all pending requests.
  void flush();
  /// Expects one more message.
  void expect() {
    ++expected_;
    if (expected_ % kPollEvery == 0) poll();
  }
  /// Waits for the next message that has not been waited for.
  void receive();
  /// Waits until all posted requests have completed and all expected messages have arrived, or count as lost.
  [[gnu::hot]] void finish();
  /// Polls for completions once; returns whether there were any.
  bool poll();
  /// Whether all posted requests have completed.
  [[nodiscard]] bool is_idle() const { return under_way_ == 0; }
  /// Throws Error (timeout) with `missing` and the connection's diagnosis if nothing has completed since `since` for
  /// longer than the stall timeout.
  [[gnu::cold]] void check_patience(Seconds since, const char* missing);

  /// Messages started and expected since the last call, by queue pair.
  struct Counts {
    std::vector<std::uint64_t> started;
    std::vector<std::uint64_t> expected;
  };
  [[nodiscard]] Counts take_counts();
  /// Datagrams expected so far that have not arrived.
  [[nodiscard]] std::uint64_t lost() const;
  [[nodiscard]] std::uint64_t duplicated() const;
  [[nodiscard]] std::uint64_t reordered() const;

 private:
  static constexpr std::uint64_t kPollEvery = 16;

  /// One queue pair's requests, numbered from 1.
  struct Lane {
    std::vector<Request> list;  ///< as many as are posted at once; common fields are filled in beforehand
    std::size_t pending = 0;    ///< in the list and not posted yet, so that the last one can be signaled
    std::uint64_t posted = 0;
    std::uint64_t completed = 0;
    std::uint64_t unsignaled = 0;  ///< posted since the last signaled one
    std::uint64_t counted = 0;     ///< started since the last take_counts
    Datagrams datagrams;
  };

  [[nodiscard]] bool may_lose() const { return settings_.transport == Transport::kUd; }
  [[nodiscard]] std::uint64_t arrived() const;
  void fill(Request& request, std::size_t turn, const LocalPart& local, const RemotePart& remote);
  void post_alone(std::size_t turn, const LocalPart& local, const RemotePart& remote);
  void hand_over(std::size_t queue_pair, bool last);
  [[nodiscard]] bool poll_requests();
  [[nodiscard, gnu::noinline]] bool poll_everything();  // separate, to keep waiting for requests short
  void complete(Lane& lane, std::uint64_t newest);
  void take(const Completion& completion);
  void replenish(std::size_t queue, int at_least);
  [[nodiscard]] std::uint64_t signaled_every(Bytes size);
  /// The time since the last completion.
  struct Idle {
    int polls = 0;
    Seconds since = 0;  ///< 0: not long yet
  };
  template <typename Done>
  void wait_until(Done done, const char* missing);
  [[gnu::noinline]] void look_later(Idle& idle, const char* missing);
  void wait_for_arrivals(std::uint64_t count);
  void wait_for_datagrams(std::uint64_t count);

  Connection& connection_;
  FlowSettings settings_;
  bool numbered_;       // whether messages carry their numbers as immediate data
  bool repeats_;        // whether messages between the same places differ only in the request's number
  bool only_requests_;  // one queue pair, and no receives
  std::uint64_t depth_;
  std::vector<Lane> lanes_;
  std::uint64_t under_way_ = 0;  // requests posted and not completed, over all lanes
  std::vector<int> consumed_;    // receives to be posted again, per receive queue
  Bytes moderated_size_ = 0;
  std::uint64_t moderation_ = 0;  // for messages of that size; 0: unknown yet
  LocalPart buffer_{};
  bool receiving_ = false;
  std::size_t turn_ = 0;
  std::uint64_t expected_ = 0;  // so far
  std::uint64_t received_ = 0;  // messages waited for so far
  std::uint64_t arrived_ = 0;   // so far, except datagrams
  std::uint64_t written_off_ = 0;
  std::uint64_t counted_expected_ = 0;
};

}  // namespace fabricbench::verbs
