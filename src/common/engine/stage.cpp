#include "common/engine/stage.h"

#include <utility>

#include <fmt/format.h>

#include "common/core/clock.h"
#include "common/engine/conclusion.h"
#include "common/engine/describe.h"
#include "common/host/identity.h"
#include "common/measure/bench.h"
#include "common/mpi/environment.h"
#include "common/ranks/exchange.h"

namespace fabricbench {
namespace {

/// Adds the ports of the two processes of each pair, if they are known.
void describe_all_ports(const mpi::Communicator& world, const LocalPort& own, Context& context) {
  const std::vector<LocalPort> ports = gather_on_first(world, own);
  context.wire_rate = -world.max(-own.rate);
  for (std::size_t first = 0; first + 1 < ports.size() && !ports[first].name.empty(); first += 2) {
    describe_ports(ports[first], ports[first + 1], context.groups[first / 2]);
  }
}

/// What the watchdog says of this process, which it calls by its first rank and its host.
Watched watched(const Setup& setup, const Outputs& outputs) {
  const int first_rank = setup.team->process_in_job() * setup.backend.session->local_ranks();
  return {host::name_of_process(first_rank, setup.location.host), 0,
          [&setup] { return setup.backend.session->state(); },
          [&outputs](const std::string& reason) { abandon(outputs, ExitStatus::kTimeout, reason); }};
}

/// The remarks of all sessions, each with the first rank of its process.
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

}  // namespace

void measure_rows(Run& run, Totals* totals) {
  const Options& options = run.setup.options;
  Session& session = *run.setup.backend.session;
  Meter meter(*run.setup.team, session, run.clock, options, run.heartbeat);
  Bench bench(*run.setup.team, options, run.test, session, run.workspace, meter, run.nics, run.heartbeat,
              run.context.seed, run.outputs, totals);
  std::size_t cases = 0;
  for (const CaseList& list : run.setup.cases) cases += list.cases.size();
  bench.announce(static_cast<std::int64_t>(cases) * std::max<std::int64_t>(options.cycles, 1));
  for (std::int64_t cycle = 0; options.cycles == 0 || cycle < options.cycles; ++cycle) {
    for (const CaseList& list : run.setup.cases) {
      for (const Row& row : list.skipped) bench.skip(row);
      bench.measure_cases(list.cases);
    }
  }
  for (const host::Processor& processor : meter.processors()) run.processors.note(processor);
}

Ending StageEnding::whole() && {
  nics.add_to(ending);
  processors.add_to(ending);
  ending.memory_usage = std::move(memory_usage);
  ending.notes.insert(ending.notes.end(), remarks.begin(), remarks.end());
  return std::move(ending);
}

Context describe_run(const mpi::Communicator& world, const Job& job, const Test& test, const Sessions& sessions,
                     const Setup& setup) {
  Context context = context_of(world, job, setup.options, setup.location);
  context.row_kind = test.traits().row_kind;
  context.backend = setup.backend.name;
  context.backend_reason = setup.backend.reason;
  context.library = setup.backend.session->library();
  context.nccl_version = setup.backend.session->nccl_version();
  context.ranks = describe_ranks(*setup.team, setup.location, *setup.backend.session, sessions);
  context.groups = is_of_pairs(context.row_kind) ? describe_pairs(context.ranks) : describe_groups(context.ranks);
  describe_traffic(test, context);
  describe_all_ports(world, sessions.local_port(), context);
  context.left_out_pairs = sessions.left_out_pairs();
  context.notices = setup.notices;
  context.time_means = test.traits().time_means;
  return context;
}

Stage::Stage(const mpi::Communicator& world, const Job& job, const Test& test, Setup& setup, Outputs& outputs)
    : world_(world),
      job_(job),
      test_(test),
      setup_(setup),
      outputs_(outputs),
      clock_(world, host::clock_domain(), now),
      clock_error_(world.max(clock_.error())) {
  job.watchdog.meet(world, watched(setup, outputs));
}

/// The session, which the watchdog asks for its state, may end next.
Stage::~Stage() { job_.watchdog.part(); }

Run& Stage::begin(const Context& context) {
  const Team& team = *setup_.team;
  Session& session = *setup_.backend.session;
  const int local = session.local_ranks();
  const Ranks ranks{team.group().rank() * local, local, team.group().size() * local};
  workspace_.emplace(session, setup_.memory.pool_bytes, setup_.options.placement != Placement::kIn,
                     setup_.options.unalign, ranks);
  nics_.emplace(team, setup_.location, setup_.backend.name, setup_.options.interface);
  processors_.emplace(team, setup_.location, local, test_.traits().row_kind != RowKind::kCollective);
  return run_.emplace(Run{world_, test_, setup_, outputs_, context, job_.watchdog.heartbeat(), clock_, *workspace_,
                          *nics_, *processors_});
}

/// Gives up the operations in flight first. Releasing memory that a device still uses may take a minute, and the
/// message must not wait for that.
void Stage::fail(const std::exception& error) {
  setup_.backend.session->abandon();
  abandon(outputs_, error);
  end_job(job_.program.name, error);
}

StageEnding Stage::finish(Ending ending) {
  if (run_->has_abandoned) end_here(ending);
  Session& session = *setup_.backend.session;
  StageEnding whole{std::move(ending), nics_->report(), processors_->report(), remarks_of(*setup_.team, session),
                    session.memory_usage()};
  run_.reset();
  processors_.reset();
  nics_.reset();
  workspace_.reset();
  return whole;
}

/// Ends a run in which messages were given up: MPI may still be busy with them, and could then neither synchronise nor
/// finalize.
void Stage::end_here(const Ending& ending) {
  constexpr Seconds kLongEnough = 30;  // for the first process to report
  if (!world_.is_root()) sleep_for(kLongEnough);
  outputs_.end(ending);
  if (world_.is_root()) say(job_.program.name, ending.reason);
  mpi::abort(static_cast<ExitStatus>(ending.exit_status));
}

}  // namespace fabricbench
