#include "common/harness/stage.h"

#include <exception>
#include <utility>

#include <fmt/format.h>

#include "common/core/clock.h"
#include "common/harness/conclusion.h"
#include "common/host/identity.h"
#include "common/mpi/environment.h"
#include "common/report/sweep_facts.h"

namespace fabricbench {
namespace {

/// Where an operation fails, what is under way is given up and the job ends here: to give back what a device still uses
/// may take a minute, and the reason is not to wait for that.
Ending measured_or_ended(Run& run, const Measure& measure) {
  try {
    return measure(run);
  } catch (const std::exception& error) {
    run.setup.backend.session->abandon();
    abandon(run.setup.outputs, error);
    end_job(run.context.program, error);
  }
}

/// Which ports the two processes of each pair use, where they are known.
void describe_ports(const mpi::Communicator& world, const Collective& collective, Context& context) {
  const OwnPort own = collective.own_port();
  const std::vector<std::string> names = world.gather(own.name);
  context.wire_rate = -world.max(-own.rate);
  for (std::size_t first = 0; first + 1 < names.size() && !names[first].empty(); first += 2) {
    context.groups[first / 2].ports = fmt::format("{}, {}", names[first], names[first + 1]);
  }
}

/// Every process as the watchdog's report names it: by its first rank. On the first one.
std::vector<std::string> process_names(const Team& team, const Setup& setup) {
  const int first_rank = team.process_in_job() * setup.backend.session->local_ranks();
  return team.world().gather(fmt::format("rank {} on {}", first_rank, setup.placed.host));
}

/// What each process's session has to remark on, by its first rank.
std::vector<std::string> remarks_of(const Team& team, const Session& session) {
  const std::string remark = session.remark();
  const std::string own = remark.empty()
                              ? ""
                              : fmt::format("Rank {} of host {} {}", team.process_in_job() * session.local_ranks(),
                                            host::host_name(), remark);
  std::vector<std::string> remarks = team.world().gather(own);
  std::erase(remarks, "");
  return remarks;
}

/// Ends a run in which messages were given up: MPI may still be busy with them, and would neither bring all processes
/// together nor finalize.
[[noreturn]] void end_here(const mpi::Communicator& world, const Setup& setup, const Context& context,
                           const Ending& ending) {
  constexpr Seconds kLongEnough = 30;  // for the first process to report
  if (!world.is_root()) sleep_for(kLongEnough);
  setup.outputs.end(ending);
  if (world.is_root()) say(context.program, ending.reason);
  mpi::abort(static_cast<ExitStatus>(ending.exit_status));
}

}  // namespace

Ending StageEnding::whole() && {
  wires.add_to(ending);
  ending.memory_usage = std::move(memory_usage);
  ending.notes.insert(ending.notes.end(), remarks.begin(), remarks.end());
  return std::move(ending);
}

Context describe_run(const mpi::Communicator& world, const Job& job, const Collective& collective, const Setup& setup) {
  Context context = context_of(world, job, setup.options, setup.placed);
  context.figure = collective.figure();
  context.backend = setup.backend.name;
  context.backend_reason = setup.backend.reason;
  context.library = setup.backend.session->library();
  context.nccl_version = setup.backend.session->nccl_version();
  context.ranks = describe_ranks(*setup.team, setup.placed, *setup.backend.session);
  context.groups = is_of_pairs(context.figure) ? describe_pairs(context.ranks) : describe_groups(context.ranks);
  context.rounds = collective.rounds(setup.options, setup.groups.smallest());
  describe_ports(world, collective, context);
  context.notices = setup.notices;
  context.time_means = collective.time_means();
  if (context.figure == Figure::kSweep) context.sweep = plan_facts(context);
  return context;
}

StageEnding run_stage(const mpi::Communicator& world, const Collective& collective, Setup& setup, Context& context,
                      const std::function<void()>& begin, const Measure& measure) {
  const Team& team = *setup.team;
  Session& session = *setup.backend.session;
  Heartbeat heartbeat;
  const Watchdog watchdog(
      world, heartbeat, setup.options.timeout, process_names(team, setup), [&session] { return session.state(); },
      [&](const std::string& reason) { abandon(setup.outputs, ExitStatus::kTimeout, reason); });
  mpi::CommonClock clock(world, host::clock_domain(), now);
  context.clock_error = world.max(clock.error());
  begin();
  const int local = session.local_ranks();
  const Ranks ranks{team.group().rank() * local, local, team.group().size() * local};
  Workspace workspace(session, setup.memory.pool_bytes, setup.options.placement != Placement::kIn,
                      setup.options.unalign, ranks);
  WireMeter wires(team, setup.placed, setup.backend.name, setup.options.interface);
  Run run{world, collective, setup, context, heartbeat, clock, workspace, wires};
  StageEnding ending;
  ending.ending = measured_or_ended(run, measure);
  if (run.has_abandoned) end_here(world, setup, context, ending.ending);
  ending.memory_usage = session.memory_usage();
  ending.wires = wires.report();
  ending.remarks = remarks_of(team, session);
  return ending;
}

}  // namespace fabricbench
