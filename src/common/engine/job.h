#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/mpi/communicator.h"
#include "common/options/program.h"
#include "common/report/sink.h"
#include "common/watch/watchdog.h"

namespace fabricbench {

/// Makes the sinks that judge a run of this kind as its options ask for: they may change its exit status. Throws Error.
using MakeJudges = std::function<std::vector<std::unique_ptr<Sink>>(RowKind, const Options&)>;

/// The facts on which all processes of a launch agree before set-up.
struct Job {
  const mpi::Communicator& world;
  const Program& program;
  Options options;
  std::vector<std::string> command_line;  ///< this process's, with the program's name
  Watchdog& watchdog;
  const MakeJudges& make_judges;
};

/// The processes of `group` meet for the watchdog, for other steps than measuring. `greets`: as in Watched. Collective.
void meet(const mpi::Communicator& group, Watchdog& watchdog, bool greets = false);

/// From now on the watchdog notices who is gone while others are at rest. Collective over all processes of the job.
void call_roll(const mpi::Communicator& world, Watchdog& watchdog);

/// The maximum over all processes of `group`, on each of them. Those that come early wait asleep, without time limit
/// as long as all are there (Watchdog::call_roll): it is for processes that have nothing to do while others measure.
/// Collective.
[[nodiscard]] std::int64_t max_at_rest(const mpi::Communicator& group, Heartbeat& heartbeat, std::int64_t value);

/// Ends the whole job because of this process's error. The message names the process.
[[noreturn]] void end_job(const std::string& program, const std::exception& error);

/// The seed from the options, or a random one; the same on every process of `world`. Collective.
[[nodiscard]] std::uint64_t agreed_seed(const mpi::Communicator& world, const Options& options);

/// A line on standard error: `all_reduce_perf: what`.
void say(const std::string& program, const std::string& what);

}  // namespace fabricbench
