// Only for the files of Bench.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "common/core/session.h"
#include "common/measure/bench.h"
#include "common/measure/meter.h"
#include "common/measure/operation.h"

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

struct Bench::Subject {
  Case which;
  Operation operation;
  VisitPlan plan{};
  Seconds measuring = 0;                                                // the last visit, without its checks
  Seconds operation_time = 0;                                           // estimated; of a stream, of a window
  std::int64_t most_epochs = std::numeric_limits<std::int64_t>::max();  // fewer if an operation takes too long
  std::int64_t epochs_done = 0;
  bool visited = false;
  Epoch current{};                // a group's first process: the visits of the epoch under way
  std::vector<Epoch> epochs{};    // a group's first process
  std::vector<double> medians{};  // a group's first process: of the epochs
  Seconds spent = 0;
  std::optional<WrongData> wrong{};    // the worst of the checks on this process's ranks; with --check all, of all
  std::uint64_t checked{};             // messages, with --check all
  std::uint64_t checked_operations{};  // whose result was compared
  std::uint64_t wrong_operations{};    // of these, on this process's ranks
  Seconds checking{};                  // time for the buffers and checks of each operation, where each is checked
  std::optional<Unrepeated> unrepeated{};
  std::vector<std::vector<Seconds>> own_times{};  // for each of this process's ranks: medians of its visits
  std::vector<std::vector<Seconds>> own_means{};  // and the means
  IdleTime idle{};                                // of this process, in the epoch under way
  std::vector<double> stopped_shares{};           // of the time of each epoch
  std::vector<double> waiting_shares{};
  bool has_directions = false;  // both ways: whether each rank's times are those of one direction
  std::optional<LibraryChoice> choice{};
  host::NicTotal nics{};
  TransportCounters counted{};  // in the timed parts of all visits
  std::int64_t timed{};         // operations, of all visits

  [[nodiscard]] bool has_all_epochs() const { return epochs_done >= most_epochs; }
};

}  // namespace fabricbench
