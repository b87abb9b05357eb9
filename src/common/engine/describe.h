#pragma once

#include <string>
#include <vector>

#include "common/core/session.h"
#include "common/measure/test.h"
#include "common/ranks/team.h"
#include "common/record/context.h"

namespace fabricbench {

struct Job;
struct LocalPort;
class Sessions;

/// The part of the context that all programs have: command line, options, hosts, environment, and the time of this
/// call. Collective over `world`, the processes that take part.
[[nodiscard]] Context context_of(const mpi::Communicator& world, const Job& job, const Options& options,
                                 const ProcessLocation& location);

/// Every rank of the job, in order. Collective; empty on processes other than the job's first.
[[nodiscard]] std::vector<RankFacts> describe_ranks(const Team& team, const ProcessLocation& location,
                                                    const Session& session, const Sessions& sessions);

/// The same for processes without a session: each has `local_ranks` ranks, the first of which have these GPUs.
[[nodiscard]] std::vector<RankFacts> describe_processes(const Team& team, const ProcessLocation& location,
                                                        std::vector<GpuFacts> gpus = {}, int local_ranks = 1);

/// The ranks and hosts of each group, by group, from the result of `describe_ranks`.
[[nodiscard]] std::vector<GroupFacts> describe_groups(const std::vector<RankFacts>& ranks);
/// The same for groups that are pairs: the first rank and its host come first.
[[nodiscard]] std::vector<GroupFacts> describe_pairs(const std::vector<RankFacts>& ranks);

/// Adds the names of a pair's ports and the rate of the slower one, as far as they are known.
void describe_ports(const LocalPort& first, const LocalPort& second, GroupFacts& pair);

/// A list of one host, or of two.
[[nodiscard]] std::vector<std::string> distinct_hosts(const std::string& first, const std::string& second);

/// Each host's kernel, processor, NUMA nodes and network devices, as its first process sees them. Collective;
/// empty on processes other than the job's first.
[[nodiscard]] std::vector<HostFacts> describe_hosts(const mpi::Communicator& world, const ProcessLocation& location);

/// Adds to each group of `context` how its bus bandwidth follows from the rate of its links: of the NICs of a host, or
/// on one host of the NVLinks of a GPU. Groups that run at the same time share the NICs of their hosts.
void describe_traffic(const Test& test, Context& context);

}  // namespace fabricbench
