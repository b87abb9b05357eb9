// A sweep over pairs of hosts, round by round, until the slow part is known.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cluster/command/command_options.h"
#include "cluster/command/pair_job.h"
#include "cluster/command/sweep_file.h"
#include "cluster/command/sweep_plan.h"
#include "cluster/launch/children.h"

namespace fabricbench::cluster {

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
