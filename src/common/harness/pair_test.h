#pragma once

#include <vector>

#include "common/core/clock.h"
#include "common/harness/collective.h"

namespace fabricbench {

/// What programs have in common that send messages between the two ranks of a pair. Rank 0 of a pair is its first.
class PairTest : public Collective {
 public:
  [[nodiscard]] Layout layout(Request request, int /*ranks*/) const final {
    return {.send_count = request.elements, .recv_count = request.elements, .count = request.elements};
  }
  [[nodiscard]] double bus_factor(int /*ranks*/) const final { return bus_factor::kOnce; }

  /// What the other rank sends, where this one receives.
  [[nodiscard]] std::vector<ExpectedBlock> expected(const Layout& layout, const Seat& seat) const final {
    if (!receives(seat.rank)) return {};
    return {{.begin = 0, .count = layout.count, .source = 1 - seat.rank, .position = 0}};
  }

 protected:
  [[nodiscard]] virtual bool receives(int /*rank*/) const { return true; }
};

/// A message to the second rank of a pair and one back; the time is half of the round trip.
class PingPong : public PairTest {
 public:
  [[nodiscard]] Figure figure() const final { return Figure::kLatency; }
  [[nodiscard]] int messages_in_turn() const final { return 2; }

  /// There and back: one process may have both ranks.
  [[nodiscard]] int stages(int /*ranks*/) const final { return 2; }

  void start(Backend& backend, const Operands& operands) const final {
    const int other = 1 - operands.rank;
    if (operands.rank == operands.stage) {
      backend.send(operands.send, operands.count, operands.datatype, other);
    } else {
      backend.recv(operands.recv, operands.count, operands.datatype, other);
    }
  }
};

/// The first rank of a pair sends windows of messages, and the second answers each window with a message of one byte.
class OneWay : public PairTest {
 public:
  [[nodiscard]] Figure figure() const final { return Figure::kBandwidth; }
  [[nodiscard]] bool windowed() const final { return true; }

  void start(Backend& backend, const Operands& operands) const final {
    if (operands.rank == 0) {
      backend.start_send(operands.send, operands.count, operands.datatype, 1);
    } else {
      backend.start_recv(operands.recv, operands.count, operands.datatype, 0);
    }
  }

  void finish_window(Backend& backend, const Operands& /*operands*/) const final { backend.finish(); }

  void answer_window(Backend& backend, const Operands& operands) const final {
    const std::size_t one = operands.count > 0 ? 1 : 0;
    if (operands.rank == 0) {
      backend.recv(operands.recv, one, operands.datatype, 1);
    } else {
      backend.send(operands.send, one, operands.datatype, 0);
    }
  }

 protected:
  [[nodiscard]] bool receives(int rank) const final { return rank == 1; }
};

/// Both ranks of a pair send windows of messages to each other at once.
class BothWays : public PairTest {
 public:
  [[nodiscard]] Figure figure() const final { return Figure::kBothWays; }
  [[nodiscard]] bool windowed() const final { return true; }
  [[nodiscard]] double counted_share(int /*ranks*/) const final { return 2; }

  void start(Backend& backend, const Operands& operands) const final {
    const int other = 1 - operands.rank;
    backend.start_recv(operands.recv, operands.count, operands.datatype, other);
    backend.start_send(operands.send, operands.count, operands.datatype, other);
  }

  void finish_window(Backend& backend, const Operands& operands) const final {
    if (backend.finish_receiving()) operands.receiving->total += now() - operands.receiving->began;
    backend.finish();
  }

  /// Windows begin together: a rank that began before the other would count the other's delay as its own direction's.
  void answer_window(Backend& backend, const Operands& /*operands*/) const final { backend.barrier(); }
};

}  // namespace fabricbench
