#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/backends/verbs/datagrams.h"
#include "common/backends/verbs/endpoint.h"
#include "common/core/rdma_options.h"
#include "common/core/units.h"

namespace fabricbench::verbs {

/// How messages go between two endpoints; the same on both.
struct FlowSettings {
  Verb verb = Verb::kSend;
  Transport transport = Transport::kRc;
  bool latency = false;  ///< one message at a time
  RdmaOptions options{};
  Bytes inline_bytes = 0;           ///< messages up to this are sent inline
  std::int64_t receive_depth = 0;   ///< of each queue pair, or of the one that they share; 0: messages take no receives
  Seconds datagram_patience = 0.1;  ///< a datagram that does not come for so long is lost
};

/// The window of requests on each queue pair, and what is expected of the other side. Messages take turns on the queue
/// pairs. Nothing is allocated once messages go. Waits end with Error (timeout) where nothing completes for
/// RdmaOptions::stall_timeout.
class Flow {
 public:
  Flow(Endpoint& endpoint, const FlowSettings& settings);

  /// Where all messages arrive from now on, and fills the receive queues with it, once.
  void receive_into(const LocalPart& buffer);

  /// Posts a message, after others where a list of them is to be posted at once; waits while the queue is full.
  void start(const LocalPart& local, const RemotePart& remote);
  /// Starts the last message once more. False, and nothing is done, where that takes more than its request with another
  /// number. Making requests over and over would be a good part of what we add to a short message's time.
  bool start_again() {
    Lane& lane = lanes_.front();
    if (!repeats_ || lane.posted == 0 || lane.posted - lane.completed >= depth_) return false;
    ++lane.posted;
    ++lane.counted;
    ++under_way_;
    endpoint_.post_again(lane.posted);
    return true;
  }
  /// Posts what is still to be posted.
  void flush();
  /// Expects one more message.
  void expect() {
    ++expected_;
    if (expected_ % kPollEvery == 0) poll();
  }
  /// Waits for the next message that was not waited for yet.
  void receive();
  /// Waits until everything posted has completed and everything expected has arrived, or counts as lost.
  [[gnu::hot]] void finish();
  /// Looks for completions once. Whether there were any.
  bool poll();
  /// Whether everything handed over has completed.
  [[nodiscard]] bool is_idle() const { return under_way_ == 0; }
  /// Throws Error (timeout) that names `missing`, and what the endpoint knows of the trouble, where nothing has
  /// completed since `since` for longer than the stall timeout.
  [[gnu::cold]] void check_patience(Seconds since, const char* missing);

  /// Messages started and expected since the last call, by queue pair.
  struct Counts {
    std::vector<std::uint64_t> started;
    std::vector<std::uint64_t> expected;
  };
  [[nodiscard]] Counts take_counts();
  /// Expected so far and not arrived, of datagrams.
  [[nodiscard]] std::uint64_t lost() const;
  [[nodiscard]] std::uint64_t duplicated() const;
  [[nodiscard]] std::uint64_t reordered() const;

 private:
  static constexpr std::uint64_t kPollEvery = 16;

  /// One queue pair's requests, numbered from 1.
  struct Lane {
    std::vector<Request> list;  ///< as many as are posted at once; what all requests share is filled in already
    std::size_t pending = 0;    ///< of the list, not handed over yet, so that the last one can be signaled
    std::uint64_t posted = 0;
    std::uint64_t completed = 0;
    std::uint64_t unsignaled = 0;  ///< handed over since the last signaled one
    std::uint64_t counted = 0;     ///< started since the last take_counts
    Datagrams datagrams;
  };

  [[nodiscard]] bool may_lose() const { return settings_.transport == Transport::kUd; }
  [[nodiscard]] std::uint64_t arrived() const;
  void fill(Request& request, std::size_t turn, const LocalPart& local, const RemotePart& remote);
  void post_alone(std::size_t turn, const LocalPart& local, const RemotePart& remote);
  void hand_over(std::size_t queue_pair, bool last);
  [[nodiscard]] bool poll_requests();
  [[nodiscard, gnu::noinline]] bool poll_everything();  // apart, which leaves the wait for a request alone short
  void complete(Lane& lane, std::uint64_t newest);
  void take(const Completion& completion);
  void replenish(std::size_t queue, int at_least);
  [[nodiscard]] std::uint64_t signaled_every(Bytes size);
  /// How long nothing has completed.
  struct Idle {
    int polls = 0;
    Seconds since = 0;  ///< 0: not for long yet
  };
  template <typename Done>
  void wait_until(Done done, const char* missing);
  [[gnu::noinline]] void look_later(Idle& idle, const char* missing);
  void wait_for_arrivals(std::uint64_t count);
  void wait_for_datagrams(std::uint64_t count);

  Endpoint& endpoint_;
  FlowSettings settings_;
  bool numbered_;       // whether a message carries its number, as immediate data
  bool repeats_;        // whether a message between the same places is the same request, but for its number
  bool only_requests_;  // one queue pair, and no receives
  std::uint64_t depth_;
  std::vector<Lane> lanes_;
  std::uint64_t under_way_ = 0;  // requests handed over that have not completed, of all lanes
  std::vector<int> consumed_;    // receives to be posted again, of each queue of them
  Bytes moderated_size_ = 0;
  std::uint64_t moderation_ = 0;  // of messages of that size; 0: not known yet
  LocalPart buffer_{};
  bool receiving_ = false;
  std::size_t turn_ = 0;
  std::uint64_t expected_ = 0;  // so far
  std::uint64_t received_ = 0;  // waited for so far
  std::uint64_t arrived_ = 0;   // so far, but datagrams
  std::uint64_t written_off_ = 0;
  std::uint64_t counted_expected_ = 0;
};

}  // namespace fabricbench::verbs
