#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "common/core/units.h"
#include "common/mpi/mailbox.h"
#include "common/record/packing.h"

namespace fabricbench::sweep {

/// An endpoint's orders for a step.
struct Order {
  std::int64_t step = 0;  ///< below 0: the sweep is over
  std::int64_t round = 0;
  std::optional<int> to;    ///< the endpoint to send to
  std::optional<int> from;  ///< the endpoint to receive from
  bool pings = false;       ///< whether the latency is measured too
};

template <typename Visitor, record::Of<Order> Record>
void describe(Visitor& visitor, Record& order) {
  visitor.internal(order.step, order.round, order.to, order.from, order.pings);
}

/// What the receiver of a step's messages tells their sender.
struct StepOutcome {
  std::int64_t step = 0;
  double bandwidth = 0;  ///< bytes per second; 0: not measured
};

template <typename Visitor, record::Of<StepOutcome> Record>
void describe(Visitor& visitor, Record& outcome) {
  visitor.internal(outcome.step, outcome.bandwidth);
}

/// What the first endpoint tells all others at the end.
struct SweepOutcome {
  bool has_abandoned = false;  ///< messages may still be under way
  Bytes carried = 0;           ///< bytes of all timed windows
};

template <typename Visitor, record::Of<SweepOutcome> Record>
void describe(Visitor& visitor, Record& outcome) {
  visitor.internal(outcome.has_abandoned, outcome.carried);
}

/// The subjects of mail between endpoints.
enum Subject : int { kGo, kReport, kPings, kLatency, kPlan, kWaited, kOutcome, kSummary, kMatrixRow };

/// A number, a list of numbers or a record as mail.
template <typename Note>
[[nodiscard]] std::vector<std::byte> packed(const Note& note) {
  const std::string text = record::pack(note);
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

template <typename Note>
[[nodiscard]] Note unpacked(const mpi::Mailbox::Message& message) {
  return record::unpack<Note>({reinterpret_cast<const char*>(message.bytes.data()), message.bytes.size()});
}

}  // namespace fabricbench::sweep
