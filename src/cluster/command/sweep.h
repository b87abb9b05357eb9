// A sweep over pairs of hosts, round by round, until the slow part is known: its plan, its file of records, its jobs.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/command/command_options.h"
#include "cluster/command/pair_job.h"
#include "cluster/launch/children.h"
#include "cluster/pairs/planning/planner.h"
#include "cluster/pairs/readings.h"
#include "common/core/script_command.h"
#include "common/record/reading.h"

namespace fabricbench::cluster {

/// The plan of a sweep, as options say it.
struct PlanRequest {
  int rounds = 0;  ///< 0: as many as it takes
  bool all_pairs = false;
  bool find = false;
  int concurrent = 0;  ///< 0: no limit
  std::uint64_t seed = 1;
  double tolerance = 0;
};

/// The readings of these hosts, or of all hosts if there are none, in files that may not exist yet. Prints notices as
/// `name`. `locality`: file, or empty. Throws as RecordReader does.
[[nodiscard]] Sweep read_sweep(std::string_view name, const std::vector<std::string>& hosts,
                               const std::vector<std::string>& files, const std::string& locality);

/// The same records give the same round, so an interrupted sweep can continue.
[[nodiscard]] PlannedRound next_round(const PlanRequest& request, const Sweep& sweep);

/// For pairwise_bw --measured, which does not read JSON. Throws UsageError for readings of several tests.
void print_readings(const Sweep& sweep, std::FILE* file);

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

/// A signal has ended the sweep; its jobs have ended.
struct SweepInterrupted {};

/// What a sweep measures, and how.
struct SweepRequest {
  PairSettings pairs;
  PlanRequest plan;
  std::vector<std::string> plan_words;  ///< the plan, as the first line of the records has it
  std::vector<std::string> rails;       ///< one without a name if none was given
  std::string size;                     ///< --size, if it was given
};

/// What a sweep works with.
struct SweepWork {
  const CalledAs& called;
  const SweepRequest& request;
  const PairBenchmark& benchmark;
  const SweepFile& file;
  std::filesystem::path folder;  ///< for the files of jobs
  Jobs& jobs;
};

/// The pairs of a round, without a rail.
[[nodiscard]] std::vector<PairJob> pairs_of(const PlannedRound& round, const Sweep& sweep);

/// Measures rounds until the plan is done, each pair in a job of its own. Throws SweepInterrupted, UsageError where the
/// benchmark refuses its options, and Error (kFailure) where nothing works at all.
void sweep_rounds(const SweepWork& work);

/// Measures pairs at the same time, in jobs over a rail, and waits for all. Throws as sweep_rounds does.
[[nodiscard]] std::vector<PairEnd> measure_pairs(const SweepWork& work, const std::vector<PairJob>& pairs);

/// Runs all rounds of each rail in one job of pairwise_bw, which is started again without a dead host and continues.
void sweep_resident(const SweepWork& work);

/// The command of such a job.
[[nodiscard]] Command resident_command(const SweepWork& work, const std::vector<std::string>& hosts,
                                       const std::string& rail);

}  // namespace fabricbench::cluster
