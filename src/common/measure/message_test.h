#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "common/core/clock.h"
#include "common/measure/test.h"

namespace fabricbench {

/// Messages between the two ranks of a pair. Rank 0 of a pair is its first.
class MessageTest : public Test {
 public:
  using Test::Test;

  [[nodiscard]] Layout layout(Request request, int /*ranks*/) const final {
    return {.send_count = request.elements, .recv_count = request.elements, .count = request.elements};
  }
  [[nodiscard]] double bus_factor(int /*ranks*/) const final { return bus_factor::kOnce; }
  [[nodiscard]] HostTraffic host_traffic(const RanksOnHosts& /*group*/) const final { return host_traffic::kOnce; }

  /// The other rank's data, if this rank receives.
  [[nodiscard]] std::vector<ExpectedBlock> expected(const Layout& layout, const Participant& self) const final {
    if (!receives(self.rank)) return {};
    return {{.begin = 0, .count = layout.count, .source = 1 - self.rank, .position = 0}};
  }

 protected:
  [[nodiscard]] virtual bool receives(int /*rank*/) const { return true; }
};

/// A message to the second rank of a pair and one back; the time is half of the round trip.
class PingPong : public MessageTest {
 public:
  explicit PingPong(std::string name)
      : MessageTest({.name = std::move(name), .row_kind = RowKind::kLatency, .messages_in_turn = 2}) {}

  /// Two stages, there and back, because one process may have both ranks.
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
class OneWay final : public MessageTest, private Windows {
 public:
  explicit OneWay(std::string name) : MessageTest({.name = std::move(name), .row_kind = RowKind::kBandwidth}) {}

  [[nodiscard]] const Windows* windows() const override { return this; }

  void start(Backend& backend, const Operands& operands) const override {
    if (operands.rank == 0) {
      backend.start_send(operands.send, operands.count, operands.datatype, 1);
    } else {
      backend.start_recv(operands.recv, operands.count, operands.datatype, 0);
    }
  }

 private:
  void finish(Backend& backend, const Operands& /*operands*/) const override { backend.finish(); }

  void answer(Backend& backend, const Operands& operands) const override {
    const std::size_t one = operands.count > 0 ? 1 : 0;
    if (operands.rank == 0) {
      backend.recv(operands.recv, one, operands.datatype, 1);
    } else {
      backend.send(operands.send, one, operands.datatype, 0);
    }
  }

  [[nodiscard]] bool receives(int rank) const override { return rank == 1; }
};

/// Both ranks of a pair send windows of messages to each other at once.
class BothWays final : public MessageTest, private Windows {
 public:
  explicit BothWays(std::string name) : MessageTest({.name = std::move(name), .row_kind = RowKind::kBothWays}) {}

  [[nodiscard]] const Windows* windows() const override { return this; }
  [[nodiscard]] double counted_share(int /*ranks*/) const override { return 2; }

  void start(Backend& backend, const Operands& operands) const override {
    const int other = 1 - operands.rank;
    backend.start_recv(operands.recv, operands.count, operands.datatype, other);
    backend.start_send(operands.send, operands.count, operands.datatype, other);
  }

 private:
  void finish(Backend& backend, const Operands& operands) const override {
    if (backend.finish_receiving()) operands.receiving->total += now() - operands.receiving->began;
    backend.finish();
  }

  /// Ranks begin their windows together: an early rank would count the other's delay as time of its own direction.
  void answer(Backend& backend, const Operands& /*operands*/) const override { backend.barrier(); }
};

}  // namespace fabricbench
