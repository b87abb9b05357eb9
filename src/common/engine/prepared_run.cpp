#include "common/engine/prepared_run.h"

#include <utility>

#include <fmt/format.h>

#include "common/core/clock.h"
#include "common/engine/conclusion.h"
#include "common/engine/describe.h"
#include "common/engine/round_work.h"
#include "common/host/identity.h"
#include "common/measure/bench.h"
#include "common/measure/totals.h"
#include "common/mpi/environment.h"

namespace fabricbench {
namespace {

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

void RunFacts::add(const RunFacts& later) {
  nics.add(later.nics);
  processors.add(later.processors);
  remarks.insert(remarks.end(), later.remarks.begin(), later.remarks.end());
  if (!later.memory_usage.empty()) memory_usage = later.memory_usage;
}

void RunFacts::add_to(Ending& ending) const {
  nics.add_to(ending);
  processors.add_to(ending);
  ending.memory_usage = memory_usage;
  ending.notes.insert(ending.notes.end(), remarks.begin(), remarks.end());
}

PreparedRun::PreparedRun(const Job& job, const Test& test, Setup& setup, Outputs& outputs)
    : job_(job),
      test_(test),
      setup_(setup),
      outputs_(outputs),
      clock_(setup.team->world(), host::clock_domain(), now),
      clock_error_(setup.team->world().max(clock_.error())) {
  job.watchdog.meet(setup.team->world(), watched(setup, outputs));
}

/// The session, which the watchdog asks for its state, may end next.
PreparedRun::~PreparedRun() { job_.watchdog.part(); }

RunFacts PreparedRun::measure(const Context& context, const std::function<Ending(Run&)>& visit) {
  const Team& team = *setup_.team;
  Session& session = *setup_.backend.session;
  const int local = session.local_ranks();
  Workspace workspace(session, setup_.memory.pool_bytes, setup_.options.placement != Placement::kIn,
                      setup_.options.unalign, {team.group().rank() * local, local, team.group().size() * local});
  NicMeter nics(team, setup_.location, setup_.backend.name, setup_.options.tcp.interface);
  ProcessorMeter processors(team, setup_.location, local, test_.traits().row_kind != RowKind::kCollective);
  Run run{team,   setup_.options, test_, session,   setup_.cases, outputs_, context, job_.watchdog.heartbeat(),
          clock_, workspace,      nics,  processors};
  Ending ending;
  try {
    ending = visit(run);
  } catch (const std::exception& error) {
    fail(error);
  }
  if (run.has_abandoned) end_here(ending);
  return {nics.report(), processors.report(), remarks_of(team, session), session.memory_usage()};
}

/// Gives up the operations in flight first. Releasing memory that a device still uses may take a minute, and the
/// message must not wait for that.
void PreparedRun::fail(const std::exception& error) const {
  setup_.backend.session->abandon();
  abandon(outputs_, error);
  end_job(job_.program.name, error);
}

/// Ends a run in which messages were given up: MPI may still be busy with them, and could then neither synchronise nor
/// finalize.
void PreparedRun::end_here(const Ending& ending) const {
  constexpr Seconds kLongEnough = 30;  // for the first process to report
  const bool is_first = setup_.team->world().is_root();
  if (!is_first) sleep_for(kLongEnough);
  outputs_.end(ending);
  if (is_first) say(job_.program.name, ending.reason);
  mpi::abort(static_cast<ExitStatus>(ending.exit_status));
}

namespace {

/// Measures all cases of a test, in all groups or pairs at the same time.
class RowsWork final : public TestWork {
 public:
  using TestWork::TestWork;

 private:
  [[nodiscard]] Ending visit(Run& run) override {
    Totals totals(run.options);
    measure_rows(run, &totals);
    return conclude(totals, run.context);
  }
};

}  // namespace

std::unique_ptr<Work> agree_on_test(Job& job, Test& test, Sessions& sessions) {
  test.configure(job.options);
  if (!is_of_pairs(test.traits().row_kind)) {
    return std::make_unique<RowsWork>(job, ActiveProcesses{.are_all = true}, test, sessions);
  }
  PairPlan plan = plan_pairs(job.world, sessions, job.options);
  check_rounds(plan, job.options);
  sessions.choose_device(job.world, plan, job.options);
  ActiveProcesses active = active_processes_of(job.world, plan);
  if (plan.rounds.size() == 1) return std::make_unique<RowsWork>(job, std::move(active), test, sessions);
  return make_round_work(job, std::move(active), std::move(plan), test, sessions);
}

void TestWork::set_up(Outputs& outputs) {
  const RoundOfRun whole{.steps = steps()};
  setup_ = fabricbench::set_up(world(), job().world.rank(), test_, sessions_, std::move(job().options), whole);
  setup_.notices.insert(setup_.notices.begin(), notices_of_active().begin(), notices_of_active().end());
  outputs = open_outputs(world(), test_.traits().row_kind, setup_.options, job().make_judges);
  prepared_ = std::make_unique<PreparedRun>(job(), test_, setup_, outputs);
}

Context TestWork::make_context() {
  Context context = describe_run(job(), test_, sessions_, setup_);
  context.seed = agreed_seed(world(), setup_.options);
  context.clock_error = prepared_->clock_error();
  return context;
}

Ending TestWork::measure(const Context& context) {
  Ending ending;
  prepared_->measure(context, [&](Run& run) { return ending = visit(run); }).add_to(ending);
  prepared_.reset();
  return ending;
}

}  // namespace fabricbench
