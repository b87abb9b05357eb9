#pragma once

#include <deque>
#include <optional>
#include <utility>

#include "common/backends/rdma_cm/event.h"
#include "common/core/units.h"

namespace fabricbench::test {

/// What rdma_cm says as a test lays it out, on a clock that only waiting moves.
struct FakeCmEvents {
  Seconds time = 0;
  std::deque<std::pair<Seconds, rdma_cm::Event>> events;  ///< each so long after it is waited for

  void answer(rdma_cm::EventKind kind, Seconds after = 0, int status = 0) { events.push_back({after, {kind, status}}); }

  [[nodiscard]] std::optional<rdma_cm::Event> wait(Seconds longest) {
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

}  // namespace fabricbench::test
