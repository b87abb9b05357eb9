#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/backends/rdma_cm/batch_step.h"
#include "common/backends/rdma_cm/link.h"
#include "common/core/pattern.h"

namespace fabricbench::rdma_cm {

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
struct Exchanged {
  std::optional<Seconds> first;  ///< time from sending the first message until the other side's first message arrived
  std::uint64_t lost = 0;        ///< of those expected
  std::uint64_t wrong = 0;
  std::string first_wrong;  ///< which message, and which byte
};

/// The messages of one connection. The connecting side sends one, and the rest after one has come back. The other side
/// sends its messages after the first has arrived, because a datagram has to tell it the address of the sender.
class Exchange {
 public:
  /// Does not own its arguments. `connects`: true on the connecting side.
  Exchange(Link& link, const SideSettings& settings, std::uint64_t connection, bool connects);

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
  [[nodiscard]] Exchanged result() const;

 private:
  void send_the_rest();
  void send_next();
  [[nodiscard]] std::string fault_in(const Arrival& arrival);

  Link& link_;
  const SideSettings& settings_;
  std::uint64_t connection_;
  bool connects_;
  std::vector<bool> seen_;
  std::uint32_t arrived_ = 0;
  std::uint32_t posted_ = 0;
  std::uint32_t sent_ = 0;
  bool skipped_ = false;
  Seconds began_ = 0;
  Exchanged result_;
};

/// The messages of all connections of a batch.
class Exchanges {
 public:
  /// Does not own its arguments.
  Exchanges(Links& links, const SideSettings& settings, BatchStep& step, bool connects);

  /// Counts datagrams that do not arrive. A connection fails in `step` if another message does not arrive in time, or
  /// if an own message does not complete. Returns the results of all connections, in order.
  [[nodiscard]] std::vector<Exchanged> exchange_messages();

 private:
  void begin();
  [[nodiscard]] bool progress();
  void take(const Completion& completion, Seconds time);
  [[nodiscard]] Seconds patience() const;
  void give_up(Seconds patience);
  void finish_if_done(std::size_t link);

  Links& links_;
  const SideSettings& settings_;
  BatchStep& step_;
  std::deque<Exchange> exchanges_;
};

}  // namespace fabricbench::rdma_cm
