#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/core/options.h"
#include "common/core/pairs.h"
#include "common/engine/sessions.h"
#include "common/mpi/communicator.h"

namespace fabricbench {

/// The processes of the job that take part in the measurement.
struct ActiveProcesses {
  bool are_all = false;
  /// With pairs, processes 2k and 2k+1 are the two ranks of pair k; with -g 2, process k has both. Empty if all
  /// processes take part, and on a process that does not.
  std::optional<mpi::Communicator> communicator{};
  std::vector<std::string> notices{};

  /// The communicator of the members, a part of `world` or all of it; null on a process that takes no part.
  [[nodiscard]] const mpi::Communicator* among(const mpi::Communicator& world) const {
    if (are_all) return &world;
    return communicator ? &*communicator : nullptr;
  }
};

/// The pairs that exchange messages, and the rounds in which they do; the same on every process.
struct PairPlan {
  std::vector<Pair> pairs;               ///< pairs of ranks; a pair's number is its index
  std::vector<std::vector<int>> rounds;  ///< numbers of the pairs that are measured at the same time, see rounds_of
  int local_ranks = 1;                   ///< ranks per process
  std::vector<std::string> hosts;        ///< by process
  std::vector<std::string> notices;
};

/// The plan without the pairs of these numbers. The others keep their order and their rounds, and are numbered anew.
[[nodiscard]] PairPlan without_pairs(PairPlan plan, const std::set<int>& numbers);

/// Evaluates --pairs. Ranks are numbered process by process, and within a process GPU by GPU. Collective over the job.
/// Throws UsageError, the same on every process: as choose_pairs does, and with -g if some pair is not the two GPUs of
/// one process.
[[nodiscard]] PairPlan plan_pairs(const mpi::Communicator& job, const Sessions& sessions, const Options& options);

/// The processes of a round's pairs, pair by pair. `among` must contain all of them; `process` is this process's number
/// in the job. Collective over `among`.
[[nodiscard]] std::optional<mpi::Communicator> members_of_round(const mpi::Communicator& among, int process,
                                                                const PairPlan& plan, const std::vector<int>& round);

/// The processes of all rounds, in the order of their first appearance. Collective over the job.
[[nodiscard]] ActiveProcesses active_processes_of(const mpi::Communicator& job, const PairPlan& plan);

/// The members of a program that measures all pairs at the same time. Throws UsageError too if a rank is in several
/// pairs. `program` is its name.
[[nodiscard]] ActiveProcesses choose_active_processes(const mpi::Communicator& job, const std::string& program,
                                                      const Options& options);

}  // namespace fabricbench
