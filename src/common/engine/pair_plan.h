#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/core/options.h"
#include "common/core/pairs.h"
#include "common/engine/sessions.h"
#include "common/mpi/communicator.h"

namespace fabricbench {

/// Those of the job's processes that take part in what is measured.
struct Members {
  bool are_all = false;
  /// Of pairs, processes 2k and 2k+1 are the first and the second, or process k has both, with -g 2. Nothing where all
  /// take part, and on a process that takes none.
  std::optional<mpi::Communicator> communicator{};
  std::vector<std::string> notices{};

  /// Those of `world`; null on a process that takes no part.
  [[nodiscard]] const mpi::Communicator* among(const mpi::Communicator& world) const {
    if (are_all) return &world;
    return communicator ? &*communicator : nullptr;
  }
};

/// Who exchanges messages with whom, and when; the same on every process.
struct PairPlan {
  std::vector<Pair> pairs;               ///< of ranks; their places are their numbers
  std::vector<std::vector<int>> rounds;  ///< pairs that are measured at the same time, see rounds_of
  int local_ranks = 1;                   ///< of a process
  std::vector<std::string> hosts;        ///< by process
  std::vector<std::string> notices;
};

/// Reads --pairs, for ranks that are numbered as everywhere: process by process, and GPU by GPU of each. Collective
/// over the job. Throws UsageError, the same on every process: where choose_pairs does, and with -g where not every
/// pair is the two GPUs of one process.
[[nodiscard]] PairPlan plan_pairs(const mpi::Communicator& job, const Sessions& sessions, const Options& options);

/// The processes of a round's pairs, pair by pair; `among` are some of the job's, with all of these, and `process` is
/// this one's number in the job. Collective over `among`.
[[nodiscard]] std::optional<mpi::Communicator> members_of_round(const mpi::Communicator& among, int process,
                                                                const PairPlan& plan, const std::vector<int>& round);

/// The processes of all rounds, each where it first comes. Collective over the job.
[[nodiscard]] Members members_of(const mpi::Communicator& job, const PairPlan& plan);

/// The members of a program that measures all pairs at the same time; throws UsageError too where that cannot be.
/// `program` is its name.
[[nodiscard]] Members choose_members(const mpi::Communicator& job, const std::string& program, const Options& options);

}  // namespace fabricbench
