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
#include "common/measure/planning.h"
#include "common/record/row.h"

namespace fabricbench {

/// A case, its plan, and what has been measured of it.
struct MeasuredCase {
  Operation operation;
  VisitPlan plan{};
  Seconds operation_time = 0;                                           // estimated; of a stream, of a window
  std::int64_t most_epochs = std::numeric_limits<std::int64_t>::max();  // fewer if an operation takes too long
  std::int64_t epochs_done = 0;
  bool visited = false;
  Seconds spent = 0;
  Seconds measuring = 0;  // the last visit, without its checks

  Epoch current{};                                // a group's first process: the visits of the epoch under way
  std::vector<Epoch> epochs{};                    // a group's first process
  std::vector<double> medians{};                  // a group's first process: of the epochs
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

  std::optional<WrongData> wrong{};    // the worst of the checks on this process's ranks; with --check all, of all
  std::uint64_t checked{};             // messages, with --check all
  std::uint64_t checked_operations{};  // whose result was compared
  std::uint64_t wrong_operations{};    // of these, on this process's ranks
  Seconds checking{};                  // time for the buffers and checks of each operation, where each is checked
  std::optional<Unrepeated> unrepeated{};

  [[nodiscard]] const Case& which() const { return operation.which(); }
  [[nodiscard]] bool has_all_epochs() const { return epochs_done >= most_epochs; }
  /// See Planner.
  [[nodiscard]] bool wants_more(const Planner& planner, std::size_t cases) const {
    const Seconds resolution = epochs.empty() ? 0 : epochs.back().resolution;
    return !has_all_epochs() && planner.wants_more(spent, medians, resolution, cases);
  }
};

/// Whether a case is run twice on the same input, to compare the bits.
[[nodiscard]] bool is_repeated(const Run& run, const Case& which);

/// What a case's time says, on a group's first process.
[[nodiscard]] EpochRecord record_of(const Run& run, const Case& which, Seconds time);

/// What was measured of a case, whose samples are dropped. Collective; complete on the first process of each group.
[[nodiscard]] Measurement conclude(const Run& run, MeasuredCase& measured_case);

}  // namespace fabricbench
