#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/core/session.h"

namespace fabricbench {

template <typename Count>
void add_increase(std::optional<Count>& total, const std::optional<Count>& before, const std::optional<Count>& after) {
  if (before && after) total = total.value_or(0) + *after - *before;
}

inline void add_increase(std::vector<std::uint64_t>& total, const std::vector<std::uint64_t>& before,
                         const std::vector<std::uint64_t>& after) {
  total.resize(after.size());
  for (std::size_t i = 0; i < after.size(); ++i) total[i] += after[i] - before.at(i);
}

/// Adds what a session counted between two readings of its counters.
inline void add_increase(TransportCounters& total, const TransportCounters& before, const TransportCounters& after) {
  add_increase(total.retransmitted_segments, before.retransmitted_segments, after.retransmitted_segments);
  add_increase(total.lost_messages, before.lost_messages, after.lost_messages);
  add_increase(total.messages_by_queue_pair, before.messages_by_queue_pair, after.messages_by_queue_pair);
  add_increase(total.background_bytes, before.background_bytes, after.background_bytes);
  add_increase(total.background_time, before.background_time, after.background_time);
}

}  // namespace fabricbench
