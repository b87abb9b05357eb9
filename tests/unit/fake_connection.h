#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/backends/verbs/connection.h"

namespace fabricbench::test {

/// Queue pairs in this process: what is posted happens at once, at the connection that they are connected to, and its
/// completions wait until they are polled for.
class FakeConnection final : public verbs::Connection {
 public:
  explicit FakeConnection(int queue_pairs = 1, bool shared_receives = false)
      : pairs_(static_cast<std::size_t>(queue_pairs)), shared_receives_(shared_receives) {}

  static void connect(FakeConnection& one, FakeConnection& other) {
    one.peer_ = &other;
    other.peer_ = &one;
  }

  /// Completions that a poll gives at most; 0: nothing completes any more.
  std::size_t polled_at_once = 16;
  /// What happens to a message instead of arriving once: how often it arrives. By the number of messages before it.
  std::function<int(std::size_t)> arrivals = [](std::size_t) { return 1; };
  /// Whether a request, by its place in `posts` and in its list, is overtaken by those behind it: it is carried out
  /// when something is posted again.
  std::function<bool(std::size_t, std::size_t)> is_overtaken = [](std::size_t, std::size_t) { return false; };
  /// Whether requests of a queue pair complete now.
  std::function<bool(int)> completes = [](int) { return true; };
  /// Called before each poll.
  std::function<void()> before_poll = [] {};

  /// What was posted, call by call.
  struct Post {
    int queue_pair;
    std::vector<verbs::Request> requests;
  };
  std::vector<Post> posts;
  int most_under_way = 0;  ///< on any queue pair, as far as its owner could know
  int polls = 0;
  int sleeps = 0;

  /// Of a queue pair, or of the queue that all share.
  [[nodiscard]] int receives_left(int queue = 0) const { return static_cast<int>(pair(queue).receives.size()); }
  [[nodiscard]] int most_receives() const { return most_receives_; }

  [[nodiscard]] int queue_pairs() const override { return static_cast<int>(pairs_.size()); }

  void post(int queue_pair, std::span<const verbs::Request> requests) override {
    posts.push_back({queue_pair, {requests.begin(), requests.end()}});
    for (const verbs::Request& late : std::exchange(late_, {})) carry_out(queue_pair, late);
    Pair& own = pair(queue_pair);
    for (const verbs::Request& request : requests) {
      const auto place = static_cast<std::size_t>(&request - requests.data());
      ++own.posted;
      most_under_way = std::max(most_under_way, static_cast<int>(own.posted - own.seen_completed));
      if (is_overtaken(posts.size() - 1, place)) {
        late_.push_back(request);
      } else if (peer_ != nullptr) {
        carry_out(queue_pair, request);
      }
      if (request.signaled) completions_.push_back({false, queue_pair, request.number, 0, {}});
    }
  }

  void make_ready(int queue_pair, std::span<const verbs::Request> requests, int each) override {
    Pair& own = pair(queue_pair);
    own.ready.assign(requests.begin(), requests.end());
    own.ready_each = each;
    own.ready_end = own.ready.begin() + each;
  }

  void post_ready(int queue_pair, int count, std::uint64_t number, bool signaled) override {
    Pair& own = pair(queue_pair);
    std::vector<verbs::Request> requests(own.ready_end - count, own.ready_end);
    own.ready_end = (own.ready_end == own.ready.end() ? own.ready.begin() : own.ready_end) + own.ready_each;
    for (verbs::Request& request : requests) request.signaled = false;
    requests.back().number = number;
    requests.back().signaled = signaled;
    post(queue_pair, requests);
  }

  void post_receives(int queue, const verbs::LocalPart& into, int count, std::size_t distance) override {
    Pair& own = pair(queue);
    for (int i = 0; i < count; ++i) own.receives.push_back(into.data + static_cast<std::size_t>(i) * distance);
    most_receives_ = std::max(most_receives_, static_cast<int>(own.receives.size()));
  }

  [[nodiscard]] std::span<const verbs::Completion> poll() override {
    ++polls;
    before_poll();
    polled_.clear();
    for (auto next = completions_.begin(); next != completions_.end() && polled_.size() < polled_at_once;) {
      if (!completes(next->queue_pair)) {
        ++next;
        continue;
      }
      if (!next->received) pair(next->queue_pair).seen_completed = next->number;
      polled_.push_back(*next);
      next = completions_.erase(next);
    }
    return polled_;
  }

  [[nodiscard]] std::uint64_t completed() override {
    const std::span<const verbs::Completion> found = poll();
    return found.empty() ? 0 : found.back().number;
  }

  void sleep(double /*at_most_s*/) override { ++sleeps; }
  [[nodiscard]] std::string diagnosis() override { return "the other end is a fake"; }

 private:
  struct Pair {
    std::vector<verbs::Request> ready{};
    std::vector<verbs::Request>::iterator ready_end{};  // of the next list
    int ready_each = 0;
    std::deque<std::byte*> receives{};
    std::uint64_t posted = 0;
    std::uint64_t seen_completed = 0;
  };

  [[nodiscard]] Pair& pair(int which) { return pairs_[static_cast<std::size_t>(which)]; }
  [[nodiscard]] const Pair& pair(int which) const { return pairs_[static_cast<std::size_t>(which)]; }

  void carry_out(int queue_pair, const verbs::Request& request) {
    std::byte* const there = reinterpret_cast<std::byte*>(request.remote.address);
    switch (request.verb) {
      case Verb::kWrite:
        write(request.local, there);
        if (request.immediate) peer_->receive(queue_pair, {}, request.immediate, 1);
        break;
      case Verb::kRead: std::memcpy(request.local.data, there, request.local.bytes); break;
      case Verb::kAtomic: count(request, there); break;
      default: peer_->receive(queue_pair, request.local, request.immediate, arrivals(sent_++));
    }
  }

  /// A number lands as a whole behind what landed before, since somebody may be waiting for it.
  static void write(const verbs::LocalPart& from, std::byte* into) {
    std::uint64_t number = 0;
    if (from.bytes == sizeof number && reinterpret_cast<std::uintptr_t>(into) % sizeof number == 0) {
      std::memcpy(&number, from.data, sizeof number);
      std::atomic_ref(*reinterpret_cast<std::uint64_t*>(into)).store(number, std::memory_order_release);
    } else if (from.bytes > 0) {
      std::memcpy(into, from.data, from.bytes);
    }
  }

  static void count(const verbs::Request& request, std::byte* there) {
    std::uint64_t value = 0;
    std::memcpy(&value, there, sizeof value);
    std::memcpy(request.local.data, there, sizeof value);
    if (request.atomic == AtomicKind::kFetchAndAdd) {
      ++value;
    } else if (value == request.compare) {
      value = request.compare + 1;
    }
    std::memcpy(there, &value, sizeof value);
  }

  /// A message without a receive is lost, as a datagram's is.
  void receive(int queue_pair, const verbs::LocalPart& message, std::optional<std::uint32_t> immediate, int times) {
    Pair& own = pair(shared_receives_ ? 0 : queue_pair);
    for (int i = 0; i < times && !own.receives.empty(); ++i) {
      if (message.bytes > 0) std::memcpy(own.receives.front(), message.data, message.bytes);
      own.receives.pop_front();
      completions_.push_back({true, queue_pair, 0, message.bytes, immediate});
    }
  }

  std::vector<Pair> pairs_;
  bool shared_receives_;
  FakeConnection* peer_ = nullptr;
  std::deque<verbs::Completion> completions_;
  std::vector<verbs::Completion> polled_;
  std::vector<verbs::Request> late_;
  std::size_t sent_ = 0;
  int most_receives_ = 0;
};

}  // namespace fabricbench::test
