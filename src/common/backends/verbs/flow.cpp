#include "common/backends/verbs/flow.h"

#include <algorithm>
#include <span>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "common/core/clock.h"
#include "common/core/error.h"

namespace fabricbench::verbs {
namespace {

constexpr int kSpins = 1000;           // empty polls before other processes get a chance and the clock is read
constexpr int kReplenishedAtOnce = 8;  // an eighth of the receives is posted again at once

}  // namespace

Flow::Flow(Connection& connection, const FlowSettings& settings)
    : connection_(connection),
      settings_(settings),
      numbered_(settings.verb == Verb::kSend ? may_lose() : settings.options.write_with_immediate),
      repeats_(settings.latency && connection.queue_pairs() == 1 && !numbered_ &&
               (settings.verb != Verb::kAtomic || settings.options.atomic == AtomicKind::kFetchAndAdd)),
      only_requests_(connection.queue_pairs() == 1 && settings.receive_depth == 0),
      depth_(static_cast<std::uint64_t>(depth_of(settings.options, settings.latency))),
      lanes_(static_cast<std::size_t>(connection.queue_pairs())),
      consumed_(settings.options.shared_receives ? 1 : lanes_.size()) {
  Request shared;
  shared.verb = settings.verb;
  shared.atomic = settings.options.atomic;
  for (Lane& lane : lanes_) lane.list.assign(static_cast<std::size_t>(settings.options.post_list), shared);
}

void Flow::receive_into(const LocalPart& buffer) {
  if (settings_.receive_depth == 0 || receiving_) return;
  buffer_ = buffer;
  receiving_ = true;
  for (std::size_t queue = 0; queue < consumed_.size(); ++queue) {
    connection_.post_receives(static_cast<int>(queue), buffer_, static_cast<int>(settings_.receive_depth));
  }
}

/// Writes only the fields that differ between two requests.
inline void Flow::fill(Request& request, std::size_t turn, const LocalPart& local, const RemotePart& remote) {
  Lane& lane = lanes_[turn];
  request.local = local;
  request.remote = remote;
  request.number = lane.posted + lane.pending;
  request.is_inline = local.on_host && local.bytes <= settings_.inline_bytes;
  if (settings_.verb == Verb::kAtomic) {  // one counter per queue pair
    request.local.data += turn * sizeof(std::uint64_t);
    request.remote.address += turn * sizeof(std::uint64_t);
    request.compare = lane.counted;
  }
  ++lane.counted;
  if (numbered_) request.immediate = static_cast<std::uint32_t>(request.number - 1);
}

void Flow::start(const LocalPart& local, const RemotePart& remote) {
  const std::size_t turn = turn_;
  turn_ = turn + 1 == lanes_.size() ? 0 : turn + 1;
  Lane& lane = lanes_[turn];
  if (settings_.latency) {
    post_alone(turn, local, remote);
    return;
  }
  if (lane.pending == lane.list.size()) hand_over(turn, false);
  Request& request = lane.list[lane.pending++];
  fill(request, turn, local, remote);
}

/// One message at a time: no list to wait for, and each request is signaled.
void Flow::post_alone(std::size_t turn, const LocalPart& local, const RemotePart& remote) {
  Lane& lane = lanes_[turn];
  if (lane.posted - lane.completed >= depth_) {
    wait_until([&] { return lane.posted - lane.completed < depth_; }, "requests to complete");
  }
  ++lane.posted;
  ++under_way_;
  fill(lane.list.front(), turn, local, remote);
  connection_.post(static_cast<int>(turn), {lane.list.data(), 1});
}

void Flow::flush() {
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (lanes_[i].pending > 0) hand_over(i, true);
  }
}

/// Posts the lane's pending requests (at least one) as soon as there is room. Signals one request in every
/// `moderation`, and the last one.
void Flow::hand_over(std::size_t queue_pair, bool last) {
  Lane& lane = lanes_[queue_pair];
  const auto under_way = [&] { return lane.posted - lane.completed + lane.pending; };
  if (under_way() > depth_) wait_until([&] { return under_way() <= depth_; }, "requests to complete");
  const std::span<Request> requests = std::span(lane.list).first(lane.pending);
  const std::uint64_t every = signaled_every(requests.front().local.bytes);
  for (Request& request : requests) {
    request.signaled = ++lane.unsignaled >= every;
    if (request.signaled) lane.unsignaled = 0;
  }
  if (last) {
    requests.back().signaled = true;
    lane.unsignaled = 0;
  }
  connection_.post(static_cast<int>(queue_pair), requests);
  lane.posted += lane.pending;
  under_way_ += lane.pending;
  lane.pending = 0;
}

/// Sizes change only between windows.
std::uint64_t Flow::signaled_every(Bytes size) {
  if (moderation_ == 0 || size != moderated_size_) {
    moderated_size_ = size;
    moderation_ = static_cast<std::uint64_t>(moderation_of(settings_.options, size, static_cast<std::int64_t>(depth_)));
  }
  return moderation_;
}

void Flow::receive() {
  ++received_;
  expected_ = std::max(expected_, received_);
  wait_for_arrivals(received_);
}

void Flow::finish() {
  if (!settings_.latency) flush();
  wait_until([&] { return is_idle(); }, "requests to complete");
  received_ = expected_;
  if (receiving_) wait_for_arrivals(expected_);
}

void Flow::wait_for_arrivals(std::uint64_t count) {
  if (may_lose()) {
    wait_for_datagrams(count);
  } else {
    wait_until([&] { return arrived_ >= count; }, "messages to arrive");
  }
}

/// Waits until this many have arrived. Where each message answers another, it waits for this number or a later one: an
/// answer that arrives after it was given up does not count for the next message. Messages still missing after a quiet
/// period are lost.
void Flow::wait_for_datagrams(std::uint64_t count) {
  const auto complete = [&] {
    if (!settings_.latency) return arrived() + written_off_ >= count;
    return static_cast<std::int32_t>(lanes_.front().datagrams.next() - static_cast<std::uint32_t>(count)) >= 0;
  };
  Seconds since = 0;  // no long wait yet
  for (int empty = 0; !complete();) {
    if (poll()) {
      since = 0;
    } else if (++empty % kSpins == 0) {
      if (since == 0) since = now();
      std::this_thread::yield();
      if (now() - since < settings_.datagram_patience) continue;
      written_off_ = std::max(written_off_, count - std::min(count, arrived()));
      return;
    }
  }
}

std::uint64_t Flow::arrived() const {
  if (!may_lose()) return arrived_;
  std::uint64_t sum = 0;
  for (const Lane& lane : lanes_) sum += lane.datagrams.arrived();
  return sum;
}

template <typename Done>
void Flow::wait_until(Done done, const char* missing) {
  for (Idle idle; !done();) {
    if (poll()) {
      idle = {};
    } else {
      look_later(idle, missing);
    }
  }
}

/// Reads the clock only in long waits: a read takes a considerable part of a message's time.
void Flow::look_later(Idle& idle, const char* missing) {
  if (!settings_.options.events && ++idle.polls % kSpins != 0) return;
  if (idle.since == 0) idle.since = now();
  if (settings_.options.events) {
    connection_.sleep(settings_.options.stall_timeout);
  } else {
    std::this_thread::yield();
  }
  check_patience(idle.since, missing);
}

void Flow::check_patience(Seconds since, const char* missing) {
  const Seconds limit = settings_.options.stall_timeout;
  if (limit <= 0 || now() - since < limit) return;
  const char* const hint = settings_.transport == Transport::kUc
                               ? "; UC does not retransmit, so messages may have been lost on the way (-c RC does)"
                               : "";
  throw Error(ExitStatus::kTimeout, fmt::format("verbs: waited {} in vain for {}{}; {}", readable_seconds(limit),
                                                missing, hint, connection_.diagnosis()));
}

bool Flow::poll() { return only_requests_ ? poll_requests() : poll_everything(); }

/// Requests of a lane complete in order.
inline void Flow::complete(Lane& lane, std::uint64_t newest) {
  under_way_ -= newest - lane.completed;
  lane.completed = newest;
}

inline bool Flow::poll_requests() {
  const std::uint64_t newest = connection_.completed();
  if (newest == 0) return false;
  complete(lanes_.front(), newest);
  return true;
}

bool Flow::poll_everything() {
  const std::span<const Completion> completions = connection_.poll();
  for (const Completion& completion : completions) take(completion);
  return !completions.empty();
}

void Flow::take(const Completion& completion) {
  Lane& lane = lanes_[static_cast<std::size_t>(completion.queue_pair)];
  if (!completion.received) {
    complete(lane, completion.number);
    return;
  }
  if (may_lose()) {
    lane.datagrams.arrive(completion.immediate.value_or(0));
  } else {
    ++arrived_;
  }
  const std::size_t queue = consumed_.size() == 1 ? 0 : static_cast<std::size_t>(completion.queue_pair);
  ++consumed_[queue];
  replenish(queue, std::max(1, static_cast<int>(settings_.receive_depth) / kReplenishedAtOnce));
}

void Flow::replenish(std::size_t queue, int at_least) {
  if (consumed_[queue] < at_least) return;
  connection_.post_receives(static_cast<int>(queue), buffer_, consumed_[queue]);
  consumed_[queue] = 0;
}

Flow::Counts Flow::take_counts() {
  Counts counts;
  const std::uint64_t lanes = lanes_.size();
  for (std::uint64_t i = 0; i < lanes; ++i) {
    counts.started.push_back(std::exchange(lanes_[i].counted, 0));
    const auto share = [&](std::uint64_t messages) { return (messages + lanes - 1 - i) / lanes; };
    counts.expected.push_back(share(expected_) - share(counted_expected_));
  }
  counted_expected_ = expected_;
  return counts;
}

std::uint64_t Flow::lost() const {
  const std::uint64_t came = arrived();
  return may_lose() && expected_ > came ? expected_ - came : 0;
}

std::uint64_t Flow::duplicated() const {
  std::uint64_t sum = 0;
  for (const Lane& lane : lanes_) sum += lane.datagrams.duplicated();
  return sum;
}

std::uint64_t Flow::reordered() const {
  std::uint64_t sum = 0;
  for (const Lane& lane : lanes_) sum += lane.datagrams.reordered();
  return sum;
}

}  // namespace fabricbench::verbs
