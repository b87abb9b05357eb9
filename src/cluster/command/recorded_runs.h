// The runs in files of records, joined so that neither the order of the files nor a second copy of a reading matters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "cluster/pairs/readings.h"
#include "common/record/reading.h"

namespace fabricbench::cluster {

/// Tells whether readings have a reason to keep: a host that is down fails with all others, and a few reasons suffice.
class KeptReasons {
 public:
  /// Counts the reading if its reason is to be kept.
  [[nodiscard]] bool keeps(const Reading& reading);

 private:
  std::vector<std::int32_t> kept_;  // by host
};

/// One run, as its file has it.
struct RecordedRun {
  std::string began;                                        ///< in UTC, ISO 8601; empty: unknown
  std::vector<std::int32_t> hosts;                          ///< those that the run names, besides those of readings
  std::vector<std::pair<std::string, std::string>> leaves;  ///< by host
  Sweep part;                ///< its readings, with the rounds of the file; their reasons, routes and counts
  bool goes_on = false;      ///< a part of it was read before, from a file that ends earlier
  KeptReasons reasons;       ///< of `part`
  std::uint64_t digest = 0;  ///< of hosts and readings
  std::vector<std::uint64_t> of_unknown_time;  ///< identities of readings without a time
};

/// Recognises readings that have been taken before. The same reading has the same ends, test, round, size and figure,
/// and was finished at the same time; where it does not say when, its run began at the same time.
class KnownReadings {
 public:
  /// Adds a reading to the run's digest. Whether it is new; false: it was taken before, from a copy. One of unknown
  /// time counts as new until the runs are joined.
  [[nodiscard]] bool add(const RecordedReading& record, std::string_view test, RecordedRun& run);

 private:
  std::unordered_set<std::uint64_t> known_;
};

/// Adds a text to a digest.
[[nodiscard]] std::uint64_t digest_of(std::string_view text, std::uint64_t digest);

/// Joins the readings of runs in `sweep`, which has the names, devices and routes that they refer to. Runs come in the
/// order of their times, with their rounds one after the other, and a later run continues the numbers of an earlier one
/// unless it has done so itself. Hosts from `given` on, kinds, devices and routes are numbered anew by their first use.
/// Leaves out a run of unknown time whose readings are all in another one. Returns the number of its readings.
[[nodiscard]] std::int64_t join(std::vector<RecordedRun>& runs, std::size_t given, Sweep& sweep);

}  // namespace fabricbench::cluster
