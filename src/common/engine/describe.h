#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/core/session.h"
#include "common/core/units.h"
#include "common/ranks/placement.h"
#include "common/ranks/team.h"
#include "common/record/context.h"

namespace fabricbench {

struct Job;

/// What every run tells of itself, whatever it measures: command line, options, hosts, environment, the moment of this
/// call. Collective over `world`, the processes that take part.
[[nodiscard]] Context context_of(const mpi::Communicator& world, const Job& job, const Options& options,
                                 const Placed& placed);

/// Every rank of the job, in order. Collective; empty on processes other than the job's first.
[[nodiscard]] std::vector<RankFacts> describe_ranks(const Team& team, const Placed& placed, const Session& session);

/// The same of processes that have no session: each is so many ranks, with the GPUs that it keeps.
[[nodiscard]] std::vector<RankFacts> describe_processes(const Team& team, const Placed& placed, int local_ranks = 1);

/// The groups' ranks and hosts, by group, of what `describe_ranks` found.
[[nodiscard]] std::vector<GroupFacts> describe_groups(const std::vector<RankFacts>& ranks);
/// The same where each group is a pair: both ranks and both hosts, the first one first.
[[nodiscard]] std::vector<GroupFacts> describe_pairs(const std::vector<RankFacts>& ranks);

/// Each host's kernel, processor, NUMA nodes and network devices, as its first process sees them. Collective;
/// empty on processes other than the job's first.
[[nodiscard]] std::vector<HostFacts> describe_hosts(const mpi::Communicator& world, const Placed& placed);

}  // namespace fabricbench
