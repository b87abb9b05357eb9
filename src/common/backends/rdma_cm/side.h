#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/backends/rdma_cm/endpoint.h"
#include "common/core/ownership.h"
#include "common/core/pattern.h"
#include "common/core/rdma_options.h"
#include "common/core/units.h"

namespace fabricbench::rdma_cm {

/// The settings of one side's connections.
struct SideSettings {
  Transport transport = Transport::kRc;
  std::uint32_t messages = 1;  ///< per direction of a connection
  Seconds limit = 5;           ///< longest time without an answer in a step
  std::string peer;            ///< such as `rank 1 on node-07 (10.0.0.7)`
  std::function<Seconds()> clock;
  std::size_t parallel = 1;  ///< connections at the same time

  [[nodiscard]] bool datagrams() const { return transport == Transport::kUd; }
};

/// Connections that are made at the same time, by their numbers.
struct Batch {
  std::uint64_t first = 0;
  std::size_t count = 0;
};

/// One step of all connections of a batch: which of them wait, how long each took, and which failed. A failed
/// connection does not end the step for the others.
class BatchStep {
 public:
  /// Does not own the settings. All connections wait.
  BatchStep(ConnectStep step, const Batch& batch, const SideSettings& settings);

  /// Begins the time of a connection, and calls `act` as `attempt` does.
  void start(std::size_t endpoint, const std::function<void()>& act);
  /// Calls `act`, which may throw Error: the connection has then failed.
  void attempt(std::size_t endpoint, const std::function<void()>& act);
  /// This connection waits no longer; does nothing if it has failed.
  void finish(std::size_t endpoint);
  void fail(std::size_t endpoint, ExitStatus status, const std::string& why);
  /// Those that still wait have failed.
  void fail_waiting(ExitStatus status, const std::string& why);

  [[nodiscard]] ConnectStep step() const { return step_; }
  [[nodiscard]] const Batch& batch() const { return batch_; }
  [[nodiscard]] bool waits(std::size_t endpoint) const { return states_[endpoint] == State::kWaits; }
  [[nodiscard]] std::size_t waiting() const { return waiting_; }
  [[nodiscard]] std::size_t failed() const { return failed_; }
  /// From `start` to `finish`, in the order in which connections finished.
  [[nodiscard]] const std::vector<Seconds>& times() const { return times_; }
  /// From the construction to the end of the last connection.
  [[nodiscard]] Seconds took() const { return ended_ - began_; }
  /// Throws the Error of the first connection that failed, if any, with its number and the number of others.
  void raise() const;

 private:
  enum class State : char { kWaits, kDone, kFailed };

  void end_wait(std::size_t endpoint, State state);

  ConnectStep step_;
  Batch batch_;
  const SideSettings& settings_;
  std::vector<State> states_;
  std::vector<Seconds> starts_;
  std::vector<Seconds> times_;
  std::size_t waiting_;
  std::size_t failed_ = 0;
  Seconds began_;
  Seconds ended_;
  Problem problem_;  // of the first that failed
};

/// The identity of a message. Its bytes depend on the sender, the connection, the message and the position. All are
/// below 0x80, so that none equals the poison of a receive buffer.
struct MessageLabel {
  int side = 0;  ///< 0: the connecting side
  std::uint64_t connection = 0;
  std::uint32_t number = 0;
};

/// The eight bytes of a message from position 8 * `index` on, the first one lowest.
[[nodiscard]] constexpr std::uint64_t word_at(const MessageLabel& label, std::size_t index) {
  constexpr std::uint64_t kBelowPoison = 0x7f7f7f7f7f7f7f7f;
  constexpr int kNumberShift = 40;
  const std::uint64_t sender = label.connection << 1 | static_cast<std::uint64_t>(label.side);
  return pattern::mix(pattern::mix(sender ^ std::uint64_t{label.number} << kNumberShift) + index) & kBelowPoison;
}

[[nodiscard]] constexpr std::byte byte_at(const MessageLabel& label, std::size_t place) {
  return static_cast<std::byte>(word_at(label, place / 8) >> (place % 8 * 8) & 0xff);
}

inline void fill_message(const MessageLabel& label, std::span<std::byte> data) {
  std::uint64_t word = 0;
  for (std::size_t place = 0; place < data.size(); ++place, word >>= 8) {
    if (place % sizeof word == 0) word = word_at(label, place / sizeof word);
    data[place] = static_cast<std::byte>(word & 0xff);
  }
}

/// The position of the first wrong byte.
[[nodiscard]] inline std::optional<std::size_t> first_wrong_byte(const MessageLabel& label,
                                                                 std::span<const std::byte> data) {
  std::uint64_t word = 0;
  for (std::size_t place = 0; place < data.size(); ++place, word >>= 8) {
    if (place % sizeof word == 0) word = word_at(label, place / sizeof word);
    if (data[place] != static_cast<std::byte>(word & 0xff)) return place;
  }
  return std::nullopt;
}

/// The results of one connection's messages.
struct MessageResults {
  std::optional<Seconds> first;  ///< time from sending the first message until the other side's first message arrived
  std::uint64_t lost = 0;        ///< of those expected
  std::uint64_t wrong = 0;
  std::string first_wrong;  ///< which message, and which byte
};

/// The messages of one connection. The connecting side sends one, and the rest after one has come back. The other side
/// sends its messages after the first has arrived, because a datagram has to tell it the address of the sender.
class ConnectionMessages {
 public:
  /// Does not own its arguments. `connects`: true on the connecting side.
  ConnectionMessages(Endpoint& endpoint, const SideSettings& settings, std::uint64_t connection, bool connects);

  /// Fills the own messages.
  void prepare();
  /// Sends what can be sent before anything has arrived. Throws Error, as `take` and `skip_arrivals` do.
  void begin();
  /// `time`: when it arrived.
  void take(const Arrival& arrival, Seconds time);
  void count_sent() { ++sent_; }
  /// Waits no longer for the datagrams that have not arrived. If only the first message was sent, sends the rest and
  /// waits on: the first one may have been lost.
  void skip_arrivals();

  [[nodiscard]] bool finished() const { return (arrived_ == settings_.messages || skipped_) && sent_ == posted_; }
  /// Whether it waits for the message after which this side may send.
  [[nodiscard]] bool awaits_permission() const { return !connects_ && arrived_ == 0 && !skipped_; }
  [[nodiscard]] bool has_skipped() const { return skipped_; }
  /// How many messages arrived or were acknowledged, for an error.
  [[nodiscard]] std::string state() const;
  [[nodiscard]] MessageResults result() const;

 private:
  void send_the_rest();
  void send_next();
  [[nodiscard]] std::string fault_in(const Arrival& arrival);

  Endpoint& endpoint_;
  const SideSettings& settings_;
  std::uint64_t connection_;
  bool connects_;
  std::vector<bool> seen_;
  std::uint32_t arrived_ = 0;
  std::uint32_t posted_ = 0;
  std::uint32_t sent_ = 0;
  bool skipped_ = false;
  Seconds began_ = 0;
  MessageResults result_;
};

/// The messages of all connections of a batch.
class BatchMessages {
 public:
  /// Does not own its arguments.
  BatchMessages(Endpoints& endpoints, const SideSettings& settings, BatchStep& step, bool connects);

  /// Counts datagrams that do not arrive. A connection fails in `step` if another message does not arrive in time, or
  /// if an own message does not complete. Returns the results of all connections, in order.
  [[nodiscard]] std::vector<MessageResults> exchange_messages();

 private:
  void begin();
  [[nodiscard]] bool progress();
  void take(const Completion& completion, Seconds time);
  [[nodiscard]] Seconds patience() const;
  void give_up(Seconds patience);
  void finish_if_done(std::size_t endpoint);

  Endpoints& endpoints_;
  const SideSettings& settings_;
  BatchStep& step_;
  std::deque<ConnectionMessages> of_connections_;
};

/// One side's results over all its connections.
struct SideResults {
  std::array<std::vector<Seconds>, kConnectSteps> times;  ///< by ConnectStep; on the connecting side
  std::array<Seconds, kConnectSteps> took{};  ///< time with any connection in that step; on the connecting side
  std::size_t failed = 0;                     ///< connections
  std::uint64_t lost = 0;                     ///< messages that did not arrive
  std::uint64_t wrong = 0;
  std::string first_wrong;
};

/// One side of batches of connections. All connections of a batch start a step at the same time, and the next step when
/// all have finished it. A batch has three phases, which the two sides enter together. All methods throw Error: the
/// timeout of a step names the connection, the peer, the step and likely causes.
class Side : public InterfaceBase {
 public:
  /// Does not own the endpoints, of which there are `settings.parallel`.
  Side(Endpoints& endpoints, SideSettings settings);

  void begin(const Batch& batch);
  /// Work that the connecting side does alone.
  virtual void prepare() = 0;
  /// Connects, then sends and receives the messages.
  virtual void meet() = 0;
  virtual void part() = 0;
  void close() noexcept { endpoints_.close(); }

  [[nodiscard]] const SideResults& findings() const { return findings_; }
  [[nodiscard]] const SideSettings& settings() const { return settings_; }

 protected:
  /// What an event means for an endpoint's step.
  enum class Meaning { kGoesOn, kDone, kUnexpected };
  using React = std::function<Meaning(Endpoint&, EventKind)>;

  /// Starts the step on every endpoint and waits for `answer` on each, and keeps the times.
  void take_step(ConnectStep step, EventKind answer, const std::function<void(Endpoint&)>& start);
  /// Waits until all endpoints are done. `react` may throw Error: the endpoint has then failed.
  void await(ConnectStep step, const React& react);
  void exchange(bool connects);

 private:
  void await_events(BatchStep& step, const React& react);
  bool take_event(BatchStep& step, const React& react, Seconds longest);
  void conclude(const BatchStep& step);
  [[nodiscard]] std::vector<Seconds>& times(ConnectStep step) {
    return findings_.times[static_cast<std::size_t>(step)];
  }

  Endpoints& endpoints_;
  SideSettings settings_;
  Batch batch_;
  SideResults findings_;
};

class ActiveSide final : public Side {
 public:
  using Side::Side;
  void prepare() override;
  void meet() override;
  void part() override;
};

class PassiveSide final : public Side {
 public:
  using Side::Side;
  void prepare() override {}
  void meet() override;
  void part() override;
};

/// BatchMessages the sides' problems: both get the same problem, or none.
using Agree = std::function<Problem(const Problem&)>;

struct Series {
  std::int64_t made = 0;
  Seconds took = 0;
  Problem problem;
};

/// Makes `count` connections, batch after batch; one with a failed connection is the last. Both sides call it.
[[nodiscard]] Series make_connections(Side& side, std::int64_t count, const Agree& agree);

}  // namespace fabricbench::rdma_cm
