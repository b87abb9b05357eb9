#pragma once

#include <deque>
#include <optional>
#include <utility>

#include "common/backends/rdma_cm/endpoint.h"
#include "common/core/units.h"

namespace fabricbench::test {

/// Events as a test lays them out, on a clock that only waiting moves.
template <typename Event>
struct FakeEvents {
  Seconds time = 0;
  std::deque<std::pair<Seconds, Event>> events;  ///< each so long after it is waited for

  [[nodiscard]] std::optional<Event> wait(Seconds longest) {
    if (events.empty() || events.front().first > longest) {
      time += longest;
      return std::nullopt;
    }
    const auto [after, event] = events.front();
    events.pop_front();
    time += after;
    return event;
  }
};

/// What rdma_cm says of one connection.
struct FakeCmEvents : FakeEvents<rdma_cm::Event> {
  void answer(rdma_cm::EventKind kind, Seconds after = 0, int status = 0) { events.push_back({after, {kind, status}}); }
};

}  // namespace fabricbench::test
