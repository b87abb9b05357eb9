#pragma once

#include <optional>

#include "common/core/session.h"

namespace fabricbench {

template <typename Count>
void add_increase(std::optional<Count>& total, const std::optional<Count>& before, const std::optional<Count>& after) {
  if (before && after) total = total.value_or(0) + *after - *before;
}

/// Adds what a session counted between two readings of its counters.
inline void add_increase(TransportCounters& total, const TransportCounters& before, const TransportCounters& after) {
  add_increase(total.retransmitted_segments, before.retransmitted_segments, after.retransmitted_segments);
  add_increase(total.lost_messages, before.lost_messages, after.lost_messages);
  add_increase(total.background_bytes, before.background_bytes, after.background_bytes);
  add_increase(total.background_time, before.background_time, after.background_time);
}

}  // namespace fabricbench
