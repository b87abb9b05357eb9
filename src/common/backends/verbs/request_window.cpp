#include "common/backends/verbs/request_window.h"

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

RequestWindow::RequestWindow(Connection& connection, const RequestWindowSettings& settings)
    : connection_(connection),
      settings_(settings),
      numbered_(settings.verb == Verb::kSend ? may_lose() : settings.options.write_with_immediate),
      repeats_(!numbered_ && (settings.verb != Verb::kAtomic || settings.options.atomic == AtomicKind::kFetchAndAdd)),
      only_requests_(connection.queue_pairs() == 1 && settings.receive_depth == 0),
      shares_out_(connection.queue_pairs() > 1 && !settings.latency),
      depth_(static_cast<std::uint64_t>(depth_of(settings.options, settings.latency))),
      queues_(static_cast<std::size_t>(connection.queue_pairs())),
      last_turn_(queues_.size() - 1),
      last_round_(queues_.size() * static_cast<std::uint64_t>(settings.options.post_list)),
      consumed_(settings.options.shared_receives ? 1 : queues_.size()) {
  Request shared;
  shared.verb = settings.verb;
  shared.atomic = settings.options.atomic;
  const std::int64_t at_once = settings.latency ? 1 : settings.options.post_list;
  if (settings.options.rate_limit > 0) {
    const std::int64_t burst = settings.options.burst > 0 ? settings.options.burst : at_once;
    pace_.emplace(settings.options.rate_limit, static_cast<std::uint64_t>(burst));
  }
  for (SendQueue& queue : queues_) {
    queue.list.assign(static_cast<std::size_t>(at_once), shared);
    limit_to(queue, depth_);
  }
}

void RequestWindow::receive_into(const LocalPart& buffer) {
  if (settings_.receive_depth == 0 || receiving_) return;
  buffer_ = buffer;
  receiving_ = true;
  for (std::size_t index = 0; index < consumed_.size(); ++index) {
    post_receives(index, static_cast<int>(settings_.receive_depth));
  }
}

/// Writes only the fields that differ between two requests.
inline void RequestWindow::fill(Request& request, std::size_t turn, const LocalPart& local, const RemotePart& remote) {
  SendQueue& queue = queues_[turn];
  request.local = local;
  request.remote = remote;
  request.number = queue.started();
  request.is_inline = local.on_host && local.bytes <= settings_.inline_bytes;
  if (settings_.verb == Verb::kAtomic) {  // one counter per queue pair
    request.local.data += turn * kCounterStride;
    request.remote.address += turn * kCounterStride;
    request.compare = queue.started() - 1 - queue.taken;
  }
  if (numbered_) request.immediate = static_cast<std::uint32_t>(request.number - 1);
}

/// Posts the queue pair's pending requests (at least one). Only the last one is signaled: if it ends what was asked
/// for, if `every` have not been, or if none follows before something completes.
inline void RequestWindow::hand_over(std::size_t queue_pair, bool last) {
  SendQueue& queue = queues_[queue_pair];
  const std::uint64_t count = std::exchange(queue.pending, 0);
  queue.posted += count;
  under_way_ += count;
  queue.unsignaled += count;
  const bool signaled = last || queue.unsignaled >= queue.every || queue.room() == 0;
  if (signaled) queue.unsignaled = 0;
  if (is_ready_) {
    connection_.post_ready(static_cast<int>(queue_pair), static_cast<int>(count), queue.posted, signaled);
    return;
  }
  const std::span<Request> requests = std::span(queue.list).first(count);
  for (Request& request : requests) request.signaled = false;
  requests.back().signaled = signaled;
  connection_.post(static_cast<int>(queue_pair), requests);
}

/// How many messages the queue pair whose turn it is takes now. Posts a full list, which could not complete otherwise.
inline std::uint64_t RequestWindow::taken_in_turn() {
  const SendQueue& queue = queues_[turn_];
  if (queue.pending >= queue.at_once) hand_over(turn_, false);
  return std::min(queue.at_once - queue.pending, queue.room());
}

void RequestWindow::start(const LocalPart& local, const RemotePart& remote) {
  if (is_ready_) {
    flush();
    is_ready_ = alone_ = false;
  }
  use_size(local.bytes);
  if (shares_out_ && !apart_) share_out_unknown();
  if (taken_in_turn() == 0) find_room();
  if (pace_) (void)taken_at_pace(1);
  const std::size_t turn = std::exchange(turn_, following(turn_));
  SendQueue& queue = queues_[turn];
  Request& request = queue.list[queue.pending++];
  fill(request, turn, local, remote);
  if (settings_.latency) hand_over(turn, true);  // there is no list to wait for
}

bool RequestWindow::make_ready(const LocalPart& local, const RemotePart& remote) {
  if (!repeats_) return false;
  flush();
  use_size(local.bytes);
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    Request& each = queues_[i].list.front();
    fill(each, i, local, remote);
    std::vector<Request> requests(queues_[i].list.size(), each);
    for (Request& request : requests) request.signaled = false;
    spread(requests, i);
    connection_.make_ready(static_cast<int>(i), requests, static_cast<int>(queues_[i].list.size()));
  }
  turn_ = 0;  // the first message takes the place that was asked for
  is_ready_ = true;
  alone_ = settings_.latency && queues_.size() == 1;
  return true;
}

void RequestWindow::start_ready_in_turn(std::uint64_t messages) {
  if (shares_out_) share_out(messages);
  while (messages > 0) {
    if (messages < share_below_) share_out(messages);
    std::uint64_t taken = std::min(messages, taken_in_turn());
    if (taken == 0) {
      find_room();
      continue;
    }
    if (messages < last_round_) taken = std::min(taken, std::max<std::uint64_t>(1, messages / queues_.size()));
    if (pace_) taken = taken_at_pace(taken);
    queues_[turn_].pending += taken;
    started_ += taken;
    messages -= taken;
    if (settings_.latency) hand_over(turn_, true);
    turn_ = following(turn_);
  }
}

/// How many of `messages` (at least one) may start without exceeding the rate; waits until one may. What is pending
/// must not wait with it.
std::uint64_t RequestWindow::taken_at_pace(std::uint64_t messages) {
  std::uint64_t taken = pace_->take(messages, *size_, now());
  if (taken == 0) flush();
  while (taken == 0) {
    (void)poll();
    taken = pace_->take(messages, *size_, now());
  }
  return taken;
}

/// Gives the turn to the next queue pair that takes a message. Waits while there is none.
void RequestWindow::find_room() {
  const auto find = [this] {
    for (std::size_t tried = 0; tried < queues_.size(); ++tried) {
      if (taken_in_turn() > 0) return true;
      turn_ = following(turn_);
    }
    return false;
  };
  if (apart_) return wait_until([this] { return taken_in_turn() > 0; }, "requests to complete");
  if (!find()) wait_until(find, "requests to complete");
}

void RequestWindow::flush() {
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    if (queues_[i].pending > 0) hand_over(i, true);
  }
}

/// Sizes change only between windows.
void RequestWindow::use_size(Bytes size) {
  if (size == size_) return;
  size_ = size;
  moderation_ = static_cast<std::uint64_t>(moderation_of(settings_.options, size, static_cast<std::int64_t>(depth_)));
  for (SendQueue& queue : queues_) {
    queue.rate = 0;
    limit_to(queue, depth_);
  }
}

/// A window has room for a list behind requests that are not signaled yet. A slow queue pair tells more often what it
/// has carried out, which costs little because it carries out few.
void RequestWindow::limit_to(SendQueue& queue, std::uint64_t requests) const {
  const bool is_slow = requests < depth_;
  queue.limit = requests;
  queue.at_once =
      std::min<std::uint64_t>(queue.list.size(), is_slow ? std::max<std::uint64_t>(1, requests / 8) : requests);
  queue.every = std::min(moderation_, std::max<std::uint64_t>(1, requests / (is_slow ? 8 : 2)));
}

/// The queue pair's part of the messages, by its rate. One that is unknown counts as the mean of the others.
double RequestWindow::part_of(const SendQueue& queue) const {
  double sum = 0;
  double known = 0;
  for (const SendQueue& each : queues_) {
    sum += each.rate;
    known += each.rate > 0 ? 1 : 0;
  }
  const auto all = static_cast<double>(queues_.size());
  if (known == 0) return 1 / all;
  const double mean = sum / known;
  return (queue.rate > 0 ? queue.rate : mean) / (sum + (all - known) * mean);
}

/// Limits each queue pair to its part of the window's messages that have not completed, of which `left` are to start.
/// At its beginning each gets one, so that its rate is known; later a slow one may get none. Some requests may have
/// completed without a signal: half of them count. A slow queue pair gets less than its part: others lose little by
/// carrying a few of its messages, and all wait for those that it has too many.
void RequestWindow::share_out(std::uint64_t left) {
  if (started_ == 0) window_began_ = now();
  left_ = left;
  share_below_ = left / 2;
  std::uint64_t unseen = 0;
  for (const SendQueue& queue : queues_) unseen += std::min(queue.posted - queue.completed, (queue.every - 1) / 2);
  const auto unfinished = static_cast<double>(left + under_way_ - unseen);
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    SendQueue& queue = queues_[i];
    const double part = part_of(queue);
    const bool is_slow = 2 * part * static_cast<double>(queues_.size()) < 1;
    const auto wanted = static_cast<std::uint64_t>(std::llround(part * unfinished * (is_slow ? kCaution : 1)));
    limit_to(queue, std::clamp<std::uint64_t>(wanted, is_slow && started_ > 0 ? 0 : 1, depth_));
    if (queue.room() == 0 && queue.pending > 0) hand_over(i, true);  // nothing follows that would be signaled
  }
}

/// For a message of a window whose number of messages nobody has said: it is taken to be that of the last one.
void RequestWindow::share_out_unknown() {
  if (left_ == 0) share_out(last_window_ > 0 ? last_window_ : depth_ * queues_.size());
  if (left_ < share_below_) share_out(left_);
  ++started_;
  --left_;
}

/// Waits for the end of each queue pair's part of the window, which tells its rate.
void RequestWindow::wait_for_window() {
  const auto has_ended = [](const SendQueue& queue) {
    return queue.completed == queue.posted && queue.posted > queue.before_window;
  };
  while (!is_idle()) {
    wait_until([&] { return std::any_of(queues_.begin(), queues_.end(), has_ended); }, "requests to complete");
    const Seconds time = std::max(now() - window_began_, kShortest);
    for (SendQueue& queue : queues_) {
      if (!has_ended(queue)) continue;
      const double rate = static_cast<double>(queue.completed - queue.before_window) / time;
      queue.rate = queue.rate > 0 ? (queue.rate + rate) / 2 : rate;
      queue.before_window = queue.completed;
    }
  }
  if (started_ > 0) last_window_ = started_;
  started_ = left_ = 0;
}

void RequestWindow::receive() {
  ++received_;
  expected_ = std::max(expected_, received_);
  wait_for_arrivals(received_);
}

void RequestWindow::finish() {
  if (!settings_.latency) flush();
  if (shares_out_) wait_for_window();
  wait_until([&] { return is_idle(); }, "requests to complete");
  for (SendQueue& queue : queues_) queue.before_window = queue.completed;
  received_ = expected_;
  if (receiving_) wait_for_arrivals(expected_);
}

void RequestWindow::wait_for_arrivals(std::uint64_t count) {
  if (may_lose()) {
    wait_for_datagrams(count);
  } else {
    wait_until([&] { return arrived_ >= count; }, "messages to arrive");
  }
}

/// Waits until this many have arrived. Where each message answers another, it waits for this number or a later one: an
/// answer that arrives after it was given up does not count for the next message. Messages still missing after a quiet
/// period are lost.
void RequestWindow::wait_for_datagrams(std::uint64_t count) {
  const auto complete = [&] {
    if (!settings_.latency) return arrived() + written_off_ >= count;
    return static_cast<std::int32_t>(queues_.front().datagrams.next() - static_cast<std::uint32_t>(count)) >= 0;
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

std::uint64_t RequestWindow::sum_of(std::uint64_t (Datagrams::*count)() const) const {
  std::uint64_t sum = 0;
  for (const SendQueue& queue : queues_) sum += (queue.datagrams.*count)();
  return sum;
}

template <typename Done>
void RequestWindow::wait_until(Done done, const char* missing) {
  for (Idle idle; !done();) {
    if (poll()) {
      idle = {};
    } else {
      look_later(idle, missing);
    }
  }
}

/// Reads the clock only in long waits: a read takes a considerable part of a message's time.
void RequestWindow::look_later(Idle& idle, const char* missing) {
  if (!settings_.options.events && ++idle.polls % kSpins != 0) return;
  if (idle.since == 0) idle.since = now();
  if (settings_.options.events) {
    connection_.sleep(settings_.options.stall_timeout);
  } else {
    std::this_thread::yield();
  }
  check_patience(idle.since, missing);
}

void RequestWindow::check_patience(Seconds since, const char* missing) {
  const Seconds limit = settings_.options.stall_timeout;
  if (limit <= 0 || now() - since < limit) return;
  const char* const hint = settings_.transport == Transport::kUc
                               ? "; UC does not retransmit, so messages may have been lost on the way (-c RC does)"
                               : "";
  throw Error(ExitStatus::kTimeout, fmt::format("verbs: waited {} in vain for {}{}; {}", readable_seconds(limit),
                                                missing, hint, connection_.diagnosis()));
}

bool RequestWindow::poll() { return only_requests_ ? poll_requests() : poll_everything(); }

/// Requests of a queue pair complete in order.
inline void RequestWindow::complete(SendQueue& queue, std::uint64_t newest) {
  under_way_ -= newest - queue.completed;
  queue.completed = newest;
}

inline bool RequestWindow::poll_requests() {
  const std::uint64_t newest = connection_.completed();
  if (newest == 0) return false;
  complete(queues_.front(), newest);
  return true;
}

bool RequestWindow::poll_everything() {
  const std::span<const Completion> completions = connection_.poll();
  for (const Completion& completion : completions) take(completion);
  return !completions.empty();
}

void RequestWindow::take(const Completion& completion) {
  SendQueue& queue = queues_[static_cast<std::size_t>(completion.queue_pair)];
  if (!completion.received) {
    complete(queue, completion.number);
    return;
  }
  if (may_lose()) {
    queue.datagrams.arrive(completion.immediate.value_or(0));
    if (apart_) queue.numbers_seen.push_back(completion.immediate.value_or(0));
  } else {
    ++arrived_;
  }
  const std::size_t index = consumed_.size() == 1 ? 0 : static_cast<std::size_t>(completion.queue_pair);
  ++consumed_[index];
  replenish(index, std::max(1, static_cast<int>(settings_.receive_depth) / kReplenishedAtOnce));
}

void RequestWindow::replenish(std::size_t index, int at_least) {
  if (consumed_[index] < at_least) return;
  post_receives(index, consumed_[index]);
  consumed_[index] = 0;
}

std::vector<std::uint64_t> RequestWindow::take_started() {
  std::vector<std::uint64_t> counts;
  for (SendQueue& queue : queues_) counts.push_back(queue.started() - std::exchange(queue.taken, queue.started()));
  return counts;
}

std::vector<std::uint64_t> RequestWindow::completed() const {
  std::vector<std::uint64_t> counts;
  for (const SendQueue& queue : queues_) counts.push_back(queue.completed);
  return counts;
}

void RequestWindow::receive_apart(const LocalPart& buffer, const MessagePlaces& places,
                                  const std::vector<std::uint64_t>& sent) {
  const std::uint64_t queues = queues_.size();
  if (places.number < queues) {
    throw UsageError(fmt::format(
        "--check all: -q {} queue pairs need a place each, and there is memory for {}; lower -q or the message size",
        queues, places.number));
  }
  const bool has_receives = may_lose() && apart_;  // posted for messages that were lost, or ahead
  buffer_ = buffer;
  apart_ = places;
  receiving_ = true;
  turn_ = 0;
  for (std::size_t i = 0; i < queues; ++i) {
    SendQueue& queue = queues_[i];
    queue.to_receive = (places.received + queues - 1 - i) / queues;
    queue.receives_before += queue.numbers_seen.size();
    queue.numbers_seen.clear();
    if (may_lose()) {
      queue.numbers_seen.reserve(queue.to_receive);
      queue.first_number = static_cast<std::uint32_t>(sent.at(i));
    } else {
      queue.receives = 0;
    }
    if (!has_receives) post_receives(i, static_cast<int>(settings_.receive_depth));
  }
}

/// Adds lists until every line of the queue pair's part is used. Lists are posted from their ends, and the first queue
/// pair's first message keeps its place.
void RequestWindow::spread(std::vector<Request>& requests, std::size_t turn) const {
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
void RequestWindow::post_receives(std::size_t index, int count) {
  if (!apart_) return connection_.post_receives(static_cast<int>(index), buffer_, count, 0);
  SendQueue& queue = queues_[index];
  const std::uint64_t ring = apart_->number / queues_.size();
  auto left = static_cast<std::uint64_t>(count);
  if (!may_lose()) left = std::min(left, queue.to_receive - queue.receives);
  while (left > 0) {
    const std::uint64_t run = may_lose() ? std::min(left, ring - queue.receives % ring) : left;
    LocalPart into = buffer_;
    into.data += place_of(index, queue.receives) * apart_->distance;
    into.bytes = static_cast<std::uint32_t>(may_lose() ? apart_->distance : apart_->bytes);
    connection_.post_receives(static_cast<int>(index), into, static_cast<int>(run), queues_.size() * apart_->distance);
    queue.receives += run;
    left -= run;
  }
}

std::uint64_t RequestWindow::place_of(std::size_t queue_pair, std::uint64_t receive) const {
  const std::uint64_t queues = queues_.size();
  return (may_lose() ? receive % (apart_->number / queues) : receive) * queues + queue_pair;
}

std::optional<std::vector<Arrivals>> RequestWindow::arrivals() const {
  if (!may_lose()) return std::nullopt;
  std::vector<Arrivals> found;
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    const SendQueue& queue = queues_[i];
    for (std::size_t seen = 0; seen < queue.numbers_seen.size(); ++seen) {
      const std::uint32_t number = queue.numbers_seen[seen] - queue.first_number;
      if (number >= queue.to_receive) continue;  // from before, and late
      found.push_back(
          {.message = number * queues_.size() + i, .place = place_of(i, queue.receives_before + seen), .messages = 1});
    }
  }
  return found;
}

std::vector<std::uint64_t> RequestWindow::sent() const {
  std::vector<std::uint64_t> counts;
  for (const SendQueue& queue : queues_) counts.push_back(queue.started());
  return counts;
}

}  // namespace fabricbench::verbs
