#include "common/backends/verbs/flow.h"

#include <cmath>
#include <span>
#include <thread>

#include <fmt/format.h>

#include "common/core/clock.h"
#include "common/core/error.h"

namespace fabricbench::verbs {
namespace {

constexpr int kSpins = 1000;           // empty polls before other processes get a chance and the clock is read
constexpr int kReplenishedAtOnce = 8;  // an eighth of the receives is posted again at once
constexpr double kCaution = 0.75;      // share of its part that a slow queue pair gets
constexpr Seconds kShortest = 1e-9;    // of a window, by a coarse clock

}  // namespace

Flow::Flow(Connection& connection, const FlowSettings& settings)
    : connection_(connection),
      settings_(settings),
      numbered_(settings.verb == Verb::kSend ? may_lose() : settings.options.write_with_immediate),
      repeats_(!numbered_ && (settings.verb != Verb::kAtomic || settings.options.atomic == AtomicKind::kFetchAndAdd)),
      only_requests_(connection.queue_pairs() == 1 && settings.receive_depth == 0),
      shares_out_(connection.queue_pairs() > 1 && !settings.latency),
      depth_(static_cast<std::uint64_t>(depth_of(settings.options, settings.latency))),
      lanes_(static_cast<std::size_t>(connection.queue_pairs())),
      last_turn_(lanes_.size() - 1),
      last_round_(lanes_.size() * static_cast<std::uint64_t>(settings.options.post_list)),
      consumed_(settings.options.shared_receives ? 1 : lanes_.size()) {
  Request shared;
  shared.verb = settings.verb;
  shared.atomic = settings.options.atomic;
  const std::int64_t at_once = settings.latency ? 1 : settings.options.post_list;
  if (settings.options.rate_limit > 0) {
    const std::int64_t burst = settings.options.burst > 0 ? settings.options.burst : at_once;
    pace_.emplace(settings.options.rate_limit, static_cast<std::uint64_t>(burst));
  }
  for (Lane& lane : lanes_) {
    lane.list.assign(static_cast<std::size_t>(at_once), shared);
    limit_to(lane, depth_);
  }
}

void Flow::receive_into(const LocalPart& buffer) {
  if (settings_.receive_depth == 0 || receiving_) return;
  buffer_ = buffer;
  receiving_ = true;
  for (std::size_t queue = 0; queue < consumed_.size(); ++queue) {
    post_receives(queue, static_cast<int>(settings_.receive_depth));
  }
}

/// Writes only the fields that differ between two requests.
inline void Flow::fill(Request& request, std::size_t turn, const LocalPart& local, const RemotePart& remote) {
  Lane& lane = lanes_[turn];
  request.local = local;
  request.remote = remote;
  request.number = lane.started();
  request.is_inline = local.on_host && local.bytes <= settings_.inline_bytes;
  if (settings_.verb == Verb::kAtomic) {  // one counter per queue pair
    request.local.data += turn * kCounterStride;
    request.remote.address += turn * kCounterStride;
    request.compare = lane.started() - 1 - lane.taken;
  }
  if (numbered_) request.immediate = static_cast<std::uint32_t>(request.number - 1);
}

/// Posts the lane's pending requests (at least one). Only the last one is signaled: if it ends what was asked for, if
/// `every` have not been, or if none follows before something completes.
inline void Flow::hand_over(std::size_t queue_pair, bool last) {
  Lane& lane = lanes_[queue_pair];
  const std::uint64_t count = std::exchange(lane.pending, 0);
  lane.posted += count;
  under_way_ += count;
  lane.unsignaled += count;
  const bool signaled = last || lane.unsignaled >= lane.every || lane.room() == 0;
  if (signaled) lane.unsignaled = 0;
  if (is_ready_) {
    connection_.post_ready(static_cast<int>(queue_pair), static_cast<int>(count), lane.posted, signaled);
    return;
  }
  const std::span<Request> requests = std::span(lane.list).first(count);
  for (Request& request : requests) request.signaled = false;
  requests.back().signaled = signaled;
  connection_.post(static_cast<int>(queue_pair), requests);
}

/// How many messages the queue pair whose turn it is takes now. Posts a full list, which could not complete otherwise.
inline std::uint64_t Flow::taken_in_turn() {
  const Lane& lane = lanes_[turn_];
  if (lane.pending >= lane.at_once) hand_over(turn_, false);
  return std::min(lane.at_once - lane.pending, lane.room());
}

void Flow::start(const LocalPart& local, const RemotePart& remote) {
  if (is_ready_) {
    flush();
    is_ready_ = alone_ = false;
  }
  use_size(local.bytes);
  if (shares_out_ && !apart_) share_out_unknown();
  if (taken_in_turn() == 0) find_room();
  if (pace_) (void)taken_at_pace(1);
  const std::size_t turn = std::exchange(turn_, following(turn_));
  Lane& lane = lanes_[turn];
  Request& request = lane.list[lane.pending++];
  fill(request, turn, local, remote);
  if (settings_.latency) hand_over(turn, true);  // there is no list to wait for
}

bool Flow::make_ready(const LocalPart& local, const RemotePart& remote) {
  if (!repeats_) return false;
  flush();
  use_size(local.bytes);
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    Request& each = lanes_[i].list.front();
    fill(each, i, local, remote);
    std::vector<Request> requests(lanes_[i].list.size(), each);
    for (Request& request : requests) request.signaled = false;
    spread(requests, i);
    connection_.make_ready(static_cast<int>(i), requests, static_cast<int>(lanes_[i].list.size()));
  }
  turn_ = 0;  // the first message takes the place that was asked for
  is_ready_ = true;
  alone_ = settings_.latency && lanes_.size() == 1;
  return true;
}

void Flow::start_ready_in_turn(std::uint64_t messages) {
  if (shares_out_) share_out(messages);
  while (messages > 0) {
    if (messages < share_below_) share_out(messages);
    std::uint64_t taken = std::min(messages, taken_in_turn());
    if (taken == 0) {
      find_room();
      continue;
    }
    if (messages < last_round_) taken = std::min(taken, std::max<std::uint64_t>(1, messages / lanes_.size()));
    if (pace_) taken = taken_at_pace(taken);
    lanes_[turn_].pending += taken;
    started_ += taken;
    messages -= taken;
    if (settings_.latency) hand_over(turn_, true);
    turn_ = following(turn_);
  }
}

/// How many of `messages` (at least one) may start without exceeding the rate; waits until one may. What is pending
/// must not wait with it.
std::uint64_t Flow::taken_at_pace(std::uint64_t messages) {
  std::uint64_t taken = pace_->take(messages, *size_, now());
  if (taken == 0) flush();
  while (taken == 0) {
    (void)poll();
    taken = pace_->take(messages, *size_, now());
  }
  return taken;
}

/// Gives the turn to the next queue pair that takes a message. Waits while there is none.
void Flow::find_room() {
  const auto find = [this] {
    for (std::size_t tried = 0; tried < lanes_.size(); ++tried) {
      if (taken_in_turn() > 0) return true;
      turn_ = following(turn_);
    }
    return false;
  };
  if (apart_) return wait_until([this] { return taken_in_turn() > 0; }, "requests to complete");
  if (!find()) wait_until(find, "requests to complete");
}

void Flow::flush() {
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (lanes_[i].pending > 0) hand_over(i, true);
  }
}

/// Sizes change only between windows.
void Flow::use_size(Bytes size) {
  if (size == size_) return;
  size_ = size;
  moderation_ = static_cast<std::uint64_t>(moderation_of(settings_.options, size, static_cast<std::int64_t>(depth_)));
  for (Lane& lane : lanes_) {
    lane.rate = 0;
    limit_to(lane, depth_);
  }
}

/// A window has room for a list behind requests that are not signaled yet. A slow queue pair tells more often what it
/// has carried out, which costs little because it carries out few.
void Flow::limit_to(Lane& lane, std::uint64_t requests) const {
  const bool is_slow = requests < depth_;
  lane.limit = requests;
  lane.at_once =
      std::min<std::uint64_t>(lane.list.size(), is_slow ? std::max<std::uint64_t>(1, requests / 8) : requests);
  lane.every = std::min(moderation_, std::max<std::uint64_t>(1, requests / (is_slow ? 8 : 2)));
}

/// The queue pair's part of the messages, by its rate. One that is unknown counts as the mean of the others.
double Flow::part_of(const Lane& lane) const {
  double sum = 0;
  double known = 0;
  for (const Lane& each : lanes_) {
    sum += each.rate;
    known += each.rate > 0 ? 1 : 0;
  }
  const auto all = static_cast<double>(lanes_.size());
  if (known == 0) return 1 / all;
  const double mean = sum / known;
  return (lane.rate > 0 ? lane.rate : mean) / (sum + (all - known) * mean);
}

/// Limits each queue pair to its part of the window's messages that have not completed, of which `left` are to start.
/// At its beginning each gets one, so that its rate is known; later a slow one may get none. Some requests may have
/// completed without a signal: half of them count. A slow queue pair gets less than its part: others lose little by
/// carrying a few of its messages, and all wait for those that it has too many.
void Flow::share_out(std::uint64_t left) {
  if (started_ == 0) window_began_ = now();
  left_ = left;
  share_below_ = left / 2;
  std::uint64_t unseen = 0;
  for (const Lane& lane : lanes_) unseen += std::min(lane.posted - lane.completed, (lane.every - 1) / 2);
  const auto unfinished = static_cast<double>(left + under_way_ - unseen);
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    Lane& lane = lanes_[i];
    const double part = part_of(lane);
    const bool is_slow = 2 * part * static_cast<double>(lanes_.size()) < 1;
    const auto wanted = static_cast<std::uint64_t>(std::llround(part * unfinished * (is_slow ? kCaution : 1)));
    limit_to(lane, std::clamp<std::uint64_t>(wanted, is_slow && started_ > 0 ? 0 : 1, depth_));
    if (lane.room() == 0 && lane.pending > 0) hand_over(i, true);  // nothing follows that would be signaled
  }
}

/// For a message of a window whose number of messages nobody has said: it is taken to be that of the last one.
void Flow::share_out_unknown() {
  if (left_ == 0) share_out(last_window_ > 0 ? last_window_ : depth_ * lanes_.size());
  if (left_ < share_below_) share_out(left_);
  ++started_;
  --left_;
}

/// Waits for the end of each queue pair's part of the window, which tells its rate.
void Flow::wait_for_window() {
  const auto has_ended = [](const Lane& lane) {
    return lane.completed == lane.posted && lane.posted > lane.before_window;
  };
  while (!is_idle()) {
    wait_until([&] { return std::any_of(lanes_.begin(), lanes_.end(), has_ended); }, "requests to complete");
    const Seconds time = std::max(now() - window_began_, kShortest);
    for (Lane& lane : lanes_) {
      if (!has_ended(lane)) continue;
      const double rate = static_cast<double>(lane.completed - lane.before_window) / time;
      lane.rate = lane.rate > 0 ? (lane.rate + rate) / 2 : rate;
      lane.before_window = lane.completed;
    }
  }
  if (started_ > 0) last_window_ = started_;
  started_ = left_ = 0;
}

void Flow::receive() {
  ++received_;
  expected_ = std::max(expected_, received_);
  wait_for_arrivals(received_);
}

void Flow::finish() {
  if (!settings_.latency) flush();
  if (shares_out_) wait_for_window();
  wait_until([&] { return is_idle(); }, "requests to complete");
  for (Lane& lane : lanes_) lane.before_window = lane.completed;
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

std::uint64_t Flow::sum_of(std::uint64_t (Datagrams::*count)() const) const {
  std::uint64_t sum = 0;
  for (const Lane& lane : lanes_) sum += (lane.datagrams.*count)();
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
    if (apart_) lane.numbers_seen.push_back(completion.immediate.value_or(0));
  } else {
    ++arrived_;
  }
  const std::size_t queue = consumed_.size() == 1 ? 0 : static_cast<std::size_t>(completion.queue_pair);
  ++consumed_[queue];
  replenish(queue, std::max(1, static_cast<int>(settings_.receive_depth) / kReplenishedAtOnce));
}

void Flow::replenish(std::size_t queue, int at_least) {
  if (consumed_[queue] < at_least) return;
  post_receives(queue, consumed_[queue]);
  consumed_[queue] = 0;
}

std::vector<std::uint64_t> Flow::take_started() {
  std::vector<std::uint64_t> counts;
  for (Lane& lane : lanes_) counts.push_back(lane.started() - std::exchange(lane.taken, lane.started()));
  return counts;
}

std::vector<std::uint64_t> Flow::completed() const {
  std::vector<std::uint64_t> counts;
  for (const Lane& lane : lanes_) counts.push_back(lane.completed);
  return counts;
}

void Flow::receive_apart(const LocalPart& buffer, const MessagePlaces& places, const std::vector<std::uint64_t>& sent) {
  const std::uint64_t lanes = lanes_.size();
  if (places.number < lanes) {
    throw UsageError(fmt::format(
        "--check all: -q {} queue pairs need a place each, and there is memory for {}; lower -q or the message size",
        lanes, places.number));
  }
  const bool has_receives = may_lose() && apart_;  // posted for messages that were lost, or ahead
  buffer_ = buffer;
  apart_ = places;
  receiving_ = true;
  turn_ = 0;
  for (std::size_t i = 0; i < lanes; ++i) {
    Lane& lane = lanes_[i];
    lane.to_receive = (places.received + lanes - 1 - i) / lanes;
    lane.receives_before += lane.numbers_seen.size();
    lane.numbers_seen.clear();
    if (may_lose()) {
      lane.numbers_seen.reserve(lane.to_receive);
      lane.first_number = static_cast<std::uint32_t>(sent.at(i));
    } else {
      lane.receives = 0;
    }
    if (!has_receives) post_receives(i, static_cast<int>(settings_.receive_depth));
  }
}

/// Adds lists until every line of the queue pair's part is used. Lists are posted from their ends, and the first queue
/// pair's first message keeps its place.
void Flow::spread(std::vector<Request>& requests, std::size_t turn) const {
  const Request usual = requests.front();
  const std::size_t distance = (usual.local.bytes + kLine - 1) / kLine * kLine;
  if (!spread_ || distance == 0 || distance > kSpread) return;
  const std::size_t each = requests.size();
  const std::size_t lines = kSpread / distance;
  requests.assign((lines + each - 1) / each * each, usual);
  const auto& [local, remote] = *spread_;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const std::size_t line = (i / each * each + each - 1 - i % each) % lines;
    if (turn == 0 && line == 0) continue;
    const std::size_t offset = turn * kSpread + line * distance;
    requests[i].local.data = local.data + offset;
    requests[i].local.key = local.key;
    requests[i].remote = {remote.address + offset, remote.key};
  }
}

/// Of messages that cannot be lost no more receives are posted than there are messages, so that none is left with the
/// place of a message of another size. Receives for datagrams go through all places again and again, and all have the
/// room of the largest datagram.
void Flow::post_receives(std::size_t queue, int count) {
  if (!apart_) return connection_.post_receives(static_cast<int>(queue), buffer_, count, 0);
  Lane& lane = lanes_[queue];
  const std::uint64_t ring = apart_->number / lanes_.size();
  auto left = static_cast<std::uint64_t>(count);
  if (!may_lose()) left = std::min(left, lane.to_receive - lane.receives);
  while (left > 0) {
    const std::uint64_t run = may_lose() ? std::min(left, ring - lane.receives % ring) : left;
    LocalPart into = buffer_;
    into.data += place_of(queue, lane.receives) * apart_->distance;
    into.bytes = static_cast<std::uint32_t>(may_lose() ? apart_->distance : apart_->bytes);
    connection_.post_receives(static_cast<int>(queue), into, static_cast<int>(run), lanes_.size() * apart_->distance);
    lane.receives += run;
    left -= run;
  }
}

std::uint64_t Flow::place_of(std::size_t queue_pair, std::uint64_t receive) const {
  const std::uint64_t lanes = lanes_.size();
  return (may_lose() ? receive % (apart_->number / lanes) : receive) * lanes + queue_pair;
}

std::optional<std::vector<Arrivals>> Flow::arrivals() const {
  if (!may_lose()) return std::nullopt;
  std::vector<Arrivals> found;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const Lane& lane = lanes_[i];
    for (std::size_t seen = 0; seen < lane.numbers_seen.size(); ++seen) {
      const std::uint32_t number = lane.numbers_seen[seen] - lane.first_number;
      if (number >= lane.to_receive) continue;  // from before, and late
      found.push_back(
          {.message = number * lanes_.size() + i, .place = place_of(i, lane.receives_before + seen), .messages = 1});
    }
  }
  return found;
}

std::vector<std::uint64_t> Flow::sent() const {
  std::vector<std::uint64_t> counts;
  for (const Lane& lane : lanes_) counts.push_back(lane.started());
  return counts;
}

}  // namespace fabricbench::verbs
