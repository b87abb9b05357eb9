// One job that measures a pair of hosts: its options, its command, and its results.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cluster/command/command_options.h"
#include "cluster/launch/children.h"
#include "cluster/launch/launcher.h"
#include "common/core/error.h"

namespace fabricbench::cluster {

/// How pairs are measured, as options say.
struct PairSettings {
  std::string test;               ///< empty: chosen by PairBenchmark
  std::optional<int> gpus;        ///< of each host; empty: as many as nvidia-smi lists here
  std::string size;               ///< empty: the default of the test
  std::optional<double> least;    ///< required in each direction, in GB/s
  int limit_s = 60;               ///< of the whole job
  std::string programs;           ///< folder; empty: of this program
  std::vector<std::string> more;  ///< options of the benchmark
  LaunchSettings launch;
  std::string records;  ///< file to append to; empty: none
  std::string logs;     ///< folder for the output of failed jobs; empty: one below $TMPDIR, for this user only
  bool quiet = false;   ///< nothing is printed on success
};

/// Adds the options that check_node_pair and sweep_pairs have in common.
void add_pair_options(CommandOptions& options, PairSettings& settings);

/// The tests by library, for help texts: separated by blanks.
struct PairTests {
  std::string mpi, tcp, verbs, gpu;
};
[[nodiscard]] PairTests pair_tests();

/// Whether one job can measure these rails, which are several. The RDMA programs take a device for each rank, and one
/// port for all; other tests choose their adapter for a whole process, and their ranks meet over it.
[[nodiscard]] bool share_a_job(const std::string& test, const std::vector<std::string>& rails);

/// The parts of `A,B`.
[[nodiscard]] std::vector<std::string> split_list(const std::string& text);

/// What a library or program needs to use a rail.
struct RailChoice {
  std::vector<std::string> options;
  std::vector<std::string> environment;  ///< `NAME=VALUE`
};
[[nodiscard]] RailChoice choose_rail(const std::string& test, const std::string& rail);

/// One job.
struct PairJob {
  std::array<std::string, 2> hosts;
  std::string rail;             ///< empty: none was given; several, `A,B`, where share_a_job
  std::int64_t round = 0;       ///< for the record, like the next one
  std::int64_t concurrent = 1;  ///< pairs at the same time

  bool operator==(const PairJob&) const = default;
};

/// The end of a job, when its readings are in the records.
struct PairEnd {
  ExitStatus status = ExitStatus::kOk;
  std::vector<std::string> unmeasured;  ///< of several rails: those without a record, perhaps because of another one
};

/// Waits until all jobs have ended. A signal that ends this process ends them first: its number.
[[nodiscard]] std::optional<int> wait_for_all(Jobs& jobs);

/// Measures pairs in one way, which it finds out once.
class PairBenchmark {
 public:
  /// Throws UsageError for tests that do not measure a pair, and Error (kMissing) without program or launcher.
  explicit PairBenchmark(PairSettings settings);

  [[nodiscard]] const PairSettings& settings() const noexcept { return settings_; }  ///< with test, size and gpus
  [[nodiscard]] const Launcher& launcher() const noexcept { return launcher_; }
  [[nodiscard]] const std::string& program() const noexcept { return program_; }

  /// The command; `folder` is for the job's files. Throws UsageError.
  [[nodiscard]] Command command(const PairJob& job, const std::filesystem::path& folder) const;

  /// Starts a job, whose files go to a folder of its own. At its end, unless it was broken off, its readings are added
  /// to the records and told (see finish_pair), and then `ended` is called.
  void start(Jobs& jobs, const PairJob& job, const std::filesystem::path& folder,
             std::function<void(const PairEnd&)> ended) const;

 private:
  [[nodiscard]] JobShape shape_of(const PairJob& job, const std::filesystem::path& folder) const;

  PairSettings settings_;
  Launcher launcher_;
  std::string program_;
};

}  // namespace fabricbench::cluster
