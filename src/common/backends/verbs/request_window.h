#pragma once

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "common/backends/verbs/connection.h"
#include "common/core/backend.h"
#include "common/core/rdma_options.h"
#include "common/core/units.h"

namespace fabricbench::verbs {

/// Counts numbered messages of which any may be lost, duplicated or reordered. Numbers start from 0 and are sent in
/// order, modulo 2^32.
class Datagrams {
 public:
  /// Records the arrival of a message.
  void arrive(std::uint32_t number) {
    const auto ahead = static_cast<std::int32_t>(number - next_);
    if (ahead >= 0) {
      for (std::int32_t i = 0; i < ahead && i < static_cast<std::int32_t>(kRemembered); ++i)
        seen_.reset(place(next_ + static_cast<std::uint32_t>(i)));
      next_ = number + 1;
    } else if (static_cast<std::uint32_t>(-ahead) <= kRemembered && !seen_.test(place(number))) {
      ++reordered_;
    } else {
      ++duplicated_;
      return;
    }
    seen_.set(place(number));
    ++arrived_;
  }

  [[nodiscard]] std::uint64_t arrived() const { return arrived_; }      ///< duplicates count once
  [[nodiscard]] std::uint64_t reordered() const { return reordered_; }  ///< arrived after a message that was sent later
  [[nodiscard]] std::uint64_t duplicated() const { return duplicated_; }  ///< arrived again, or too late to tell
  /// The highest number that arrived, plus one.
  [[nodiscard]] std::uint32_t next() const { return next_; }

 private:
  static constexpr std::size_t kRemembered = 65536;
  [[nodiscard]] static std::size_t place(std::uint32_t number) { return number % kRemembered; }

  std::bitset<kRemembered> seen_;
  std::uint32_t next_ = 0;
  std::uint64_t arrived_ = 0;
  std::uint64_t reordered_ = 0;
  std::uint64_t duplicated_ = 0;
};

/// The rate of a stream of messages: bursts of some, each as long after the previous one as its bytes take at this
/// rate. A stream that falls behind makes up for at most one burst.
class Pace {
 public:
  Pace(double bytes_per_s, std::uint64_t burst) : bytes_per_s_(bytes_per_s), burst_(burst) {}

  /// How many of `messages` may start now, which is `at`; they count as started.
  [[nodiscard]] std::uint64_t take(std::uint64_t messages, Bytes size, Seconds at) {
    if (left_ == 0 && (!next_ || at >= *next_)) {
      const Seconds each = static_cast<double>(burst_ * size) / bytes_per_s_;
      next_ = (next_ ? std::max(*next_, at - each) : at) + each;
      left_ = burst_;
    }
    const std::uint64_t taken = std::min(messages, left_);
    left_ -= taken;
    return taken;
  }

 private:
  double bytes_per_s_;
  std::uint64_t burst_;
  std::uint64_t left_ = 0;       // of the burst under way
  std::optional<Seconds> next_;  // begin of the next one
};

/// The settings of the messages between two connections; the same on both.
struct RequestWindowSettings {
  Verb verb = Verb::kSend;
  Transport transport = Transport::kRc;
  bool latency = false;  ///< one message at a time
  RdmaOptions options{};
  Bytes inline_bytes = 0;           ///< messages up to this size are sent inline
  std::int64_t receive_depth = 0;   ///< per queue pair, or of the shared queue; 0: messages need no receives
  Seconds datagram_patience = 0.1;  ///< a datagram that does not arrive within this time is lost
};

/// The distance in bytes of the counters that atomics of different queue pairs add to: each has a cache line of its
/// own, because those of one line are carried out one after the other.
inline constexpr std::size_t kCounterStride = 64;

/// The bytes that short messages of a queue pair are spread over, and their distance: as in perftest, messages go to
/// one cache line after the other, because those of one line wait for each other. Source: perftest's cycle buffer.
inline constexpr std::size_t kSpread = 4096;
inline constexpr std::size_t kLine = 64;

/// Keeps a window of requests on each queue pair, and counts the messages expected from the other side. Queue pairs
/// take turns, but one without room is passed over, so that a slow one holds up no other: two of them often share a
/// link of a bond or a path through the fabric (ECMP). Nor does it get more of the rest of a stream's window, from one
/// `finish` to the next, than it carries while the others carry theirs, by the rates of earlier windows: all would wait
/// for it in the end. Allocates nothing while messages are sent. Throws Error
/// (timeout) if nothing completes within RdmaOptions::stall_timeout.
class RequestWindow {
 public:
  RequestWindow(Connection& connection, const RequestWindowSettings& settings);

  /// Sets the buffer for all messages from now on, and fills the receive queues once.
  void receive_into(const LocalPart& buffer);
  /// For sends whose receives decide where they land: messages from now on, of which `places` says how many, take the
  /// queue pairs in strict turns from the first one on, so that both ends know the queue pair of each message, and each
  /// receive has a place of its own. The first place is at the beginning of `buffer`. `sent`: the counts of sent() of
  /// the other end. Throws Error (usage) if there are fewer places than queue pairs.
  void receive_apart(const LocalPart& buffer, const MessagePlaces& places, const std::vector<std::uint64_t>& sent);
  /// The messages since receive_apart that arrived, for datagrams; empty for others, of which each is in its own place.
  [[nodiscard]] std::optional<std::vector<Arrivals>> arrivals() const;
  /// Messages started so far, by queue pair.
  [[nodiscard]] std::vector<std::uint64_t> sent() const;

  /// Posts a message, together with others if a list is to be posted at once; waits while every queue is full.
  void start(const LocalPart& local, const RemotePart& remote);
  /// Gets requests for messages between these places ready, for start_ready. Returns false if each request differs:
  /// by a number that the message carries, or by the value that a swap expects.
  bool make_ready(const LocalPart& local, const RemotePart& remote);
  /// Lets messages of at most kSpread bytes use more places: kSpread bytes for each queue pair here, at both ends. Of
  /// messages that are ready, the first one and some others still take the place that was asked for.
  void spread_over(const LocalPart& local, const RemotePart& remote) { spread_.emplace(local, remote); }
  /// Starts messages between the places of the last make_ready.
  void start_ready(std::uint64_t messages) {
    SendQueue& queue = queues_.front();
    if (!alone_ || messages != 1 || queue.room() == 0) return start_ready_in_turn(messages);
    post_alone(queue);
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

  /// Messages started since the last call, by queue pair.
  [[nodiscard]] std::vector<std::uint64_t> take_started();
  /// Requests completed so far, by queue pair.
  [[nodiscard]] std::vector<std::uint64_t> completed() const;
  /// Datagrams expected so far that have not arrived.
  [[nodiscard]] std::uint64_t lost() const { return may_lose() ? expected_ - std::min(expected_, arrived()) : 0; }
  [[nodiscard]] std::uint64_t duplicated() const { return sum_of(&Datagrams::duplicated); }
  [[nodiscard]] std::uint64_t reordered() const { return sum_of(&Datagrams::reordered); }

 private:
  static constexpr std::uint64_t kPollEvery = 16;

  /// One queue pair's requests, numbered from 1.
  struct SendQueue {
    std::vector<Request> list;  ///< as many as are posted at once; common fields are filled in beforehand
    std::uint64_t limit = 1;    ///< requests in its window; the depth, or its part of what is left of the stream's
    std::uint64_t at_once = 1;  ///< requests posted with one call
    std::uint64_t every = 1;    ///< one request in so many is signaled
    std::uint64_t pending = 0;  ///< in the list and not posted yet, so that the last one can be signaled
    std::uint64_t posted = 0;
    std::uint64_t completed = 0;
    std::uint64_t unsignaled = 0;     ///< posted since the last signaled one
    std::uint64_t taken = 0;          ///< started before the last take_started
    std::uint64_t before_window = 0;  ///< completed before the window that finish ends
    double rate = 0;                  ///< messages per second in the last windows; 0: unknown
    Datagrams datagrams;

    // With places apart:
    std::uint64_t to_receive = 0;               ///< messages
    std::uint64_t receives = 0;                 ///< posted for these; of datagrams, ever
    std::uint64_t receives_before = 0;          ///< consumed before them
    std::uint32_t first_number = 0;             ///< of the first of them
    std::vector<std::uint32_t> numbers_seen{};  ///< of datagrams, in the order of their arrival

    [[nodiscard]] std::uint64_t started() const { return posted + pending; }
    [[nodiscard]] std::uint64_t room() const { return limit - std::min(limit, started() - completed); }
  };

  [[nodiscard]] bool may_lose() const { return settings_.transport == Transport::kUd; }
  [[nodiscard]] std::uint64_t arrived() const { return may_lose() ? sum_of(&Datagrams::arrived) : arrived_; }
  /// Over all queue pairs.
  [[nodiscard]] std::uint64_t sum_of(std::uint64_t (Datagrams::*count)() const) const;
  void post_alone(SendQueue& queue) {
    ++queue.posted;
    ++under_way_;
    connection_.post_ready(0, 1, queue.posted, true);
  }
  void start_ready_in_turn(std::uint64_t messages);
  [[nodiscard]] std::size_t following(std::size_t turn) const { return turn == last_turn_ ? 0 : turn + 1; }
  [[nodiscard]] std::uint64_t taken_in_turn();
  [[gnu::noinline]] void find_room();
  [[nodiscard, gnu::noinline]] std::uint64_t taken_at_pace(std::uint64_t messages);
  void fill(Request& request, std::size_t turn, const LocalPart& local, const RemotePart& remote);
  void spread(std::vector<Request>& requests, std::size_t turn) const;
  [[gnu::always_inline]] void hand_over(std::size_t queue_pair, bool last);
  void use_size(Bytes size);
  void limit_to(SendQueue& queue, std::uint64_t requests) const;
  [[nodiscard]] double part_of(const SendQueue& queue) const;
  void share_out(std::uint64_t left);
  void share_out_unknown();
  void wait_for_window();
  [[nodiscard]] bool poll_requests();
  [[nodiscard, gnu::noinline]] bool poll_everything();  // separate, to keep waiting for requests short
  void complete(SendQueue& queue, std::uint64_t newest);
  void take(const Completion& completion);
  void replenish(std::size_t index, int at_least);
  void post_receives(std::size_t index, int count);
  [[nodiscard]] std::uint64_t place_of(std::size_t queue_pair, std::uint64_t receive) const;
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
  RequestWindowSettings settings_;
  bool numbered_;          // whether messages carry their numbers as immediate data
  bool repeats_;           // whether messages between the same places differ only in the request's number
  bool only_requests_;     // one queue pair, and no receives
  bool shares_out_;        // whether a stream's windows are shared out among queue pairs
  bool is_ready_ = false;  // whether what is pending are ready requests
  bool alone_ = false;     // whether each ready request is posted by itself
  std::uint64_t depth_;
  std::vector<SendQueue> queues_;
  std::size_t last_turn_;
  std::uint64_t left_ = 0;         // messages of the window that are to start
  std::uint64_t share_below_ = 0;  // when fewer are left than this, they are shared out again
  std::uint64_t started_ = 0;      // messages of the window
  std::uint64_t last_window_ = 0;  // messages of the one before
  Seconds window_began_ = 0;
  std::uint64_t last_round_;  // of fewer messages than this, every queue pair gets some
  std::optional<Pace> pace_;  // if the rate is limited
  std::optional<std::pair<LocalPart, RemotePart>> spread_;
  std::uint64_t under_way_ = 0;   // requests posted and not completed, over all queue pairs
  std::vector<int> consumed_;     // receives to be posted again, per receive queue
  std::optional<Bytes> size_;     // of the last message
  std::uint64_t moderation_ = 1;  // for messages of that size
  LocalPart buffer_{};
  std::optional<MessagePlaces> apart_;  // empty: all messages land in the whole buffer
  bool receiving_ = false;
  std::size_t turn_ = 0;
  std::uint64_t expected_ = 0;  // so far
  std::uint64_t received_ = 0;  // messages waited for so far
  std::uint64_t arrived_ = 0;   // so far, except datagrams
  std::uint64_t written_off_ = 0;
};

}  // namespace fabricbench::verbs
