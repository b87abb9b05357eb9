// The file of records of a sweep over pairs of hosts: its first lines, its lock, and what its readings say.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cluster/launch/children.h"
#include "common/core/script_command.h"
#include "common/record/reading.h"

namespace fabricbench::cluster {

/// What the first line says beside the hosts; `seed` and `plan` as they were given.
struct SweepStartSettings {
  std::vector<std::string> plan;
  std::string seed;
  std::vector<std::string> rails;
  HowStarted how;  ///< what commands that are advised later take to run here
};

/// A file of records that nobody else may add to as long as this exists.
class SweepFile {
 public:
  /// Writes the first lines of a new file. `locality`: a file of each host's leaf, or empty. Throws UsageError, and
  /// Error (kFailure).
  SweepFile(std::string path, const std::vector<std::string>& hosts, const SweepStartSettings& settings,
            const std::string& locality, std::string_view name);
  /// Continues a sweep. Throws UsageError where the file is none of a sweep, or another run is at work on it.
  explicit SweepFile(std::string path);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const std::vector<std::string>& hosts() const noexcept { return hosts_; }
  /// The words of the first line, for who continues the sweep.
  [[nodiscard]] const std::string& plan() const noexcept { return plan_; }
  [[nodiscard]] const std::string& seed() const noexcept { return seed_; }

  /// Calls `take` for every reading. It skips other lines: a truncated last line, or another program's output.
  void for_each_reading(const std::function<void(const RecordedReading&)>& take) const;

  /// The number of the last round; -1 without readings.
  [[nodiscard]] std::int64_t last_round() const;
  /// The number of readings of a round by status: `6 ok, 2 failed`.
  [[nodiscard]] std::string counts_of(std::int64_t round) const;
  /// The most frequent reason if no reading has a figure: `16 of 16 readings say: ...`; otherwise nothing.
  [[nodiscard]] std::string only_failures() const;
  /// Writes the records without readings of other rails to a file.
  void write_rail(const std::string& rail, const std::string& path) const;

 private:
  std::string path_;
  std::vector<std::string> hosts_;
  std::string plan_;
  std::string seed_;
  std::optional<RunLock> lock_;
};

}  // namespace fabricbench::cluster
