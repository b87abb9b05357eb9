#include "common/rdma/connect_program.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/harness/conclusion.h"
#include "common/harness/exchange.h"
#include "common/harness/job.h"
#include "common/harness/members.h"
#include "common/harness/open_everywhere.h"
#include "common/harness/pair_test.h"
#include "common/harness/watchdog.h"
#include "common/host/identity.h"
#include "common/rdma/agreement_watch.h"
#include "common/rdma/connect_setup.h"
#include "common/rdma_cm/side.h"

namespace fabricbench {
namespace {

/// Who meets whom, for choose_members; the connections themselves are not its business.
class Meetings final : public PairTest {
 public:
  [[nodiscard]] std::string_view name() const override { return "rdma_cm_connect"; }
  [[nodiscard]] Figure figure() const override { return Figure::kConnections; }
  void start(Backend& /*backend*/, const Operands& /*operands*/) const override {}
};

Context describe(const mpi::Communicator& world, const Job& job, const ConnectSetup& setup) {
  Context context = context_of(world, job, setup.options, setup.placed);
  context.figure = Figure::kConnections;
  context.backend = "verbs";
  context.backend_reason = "this program measures it";
  context.library = "librdmacm and libibverbs";
  context.ranks = describe_processes(*setup.team, setup.placed);
  context.groups = describe_pairs(context.ranks);
  context.notices = setup.notices;
  return context;
}

/// The problem of the side that connects goes first: the other one may only have waited for it.
rdma_cm::Problem agree_in_pair(const mpi::Communicator& group, const rdma_cm::Problem& own) {
  const std::vector<std::string> texts = all_gather(group, fmt::format("{}{}", static_cast<int>(own.status), own.text));
  for (const std::string& text : texts) {
    const auto status = static_cast<ExitStatus>(text.front() - '0');  // one digit
    if (status != ExitStatus::kOk) return {status, text.substr(1)};
  }
  return {};
}

/// What this side knows of its pair; times are those of the side that connects.
ConnectRow row_of(const ConnectSetup& setup, const rdma_cm::Series& series, const rdma_cm::Findings& findings) {
  ConnectRow row;
  row.pair = setup.team->group_number();
  for (std::size_t step = 0; step < kConnectSteps; ++step) {
    row.steps.push_back(summarize(static_cast<ConnectStep>(step), findings.times[step]));
  }
  row.connections = series.made;
  row.failed = series.problem.status == ExitStatus::kOk ? 0 : 1;
  row.rate = series.took > 0 ? static_cast<double>(series.made) / series.took : 0;
  row.messages = 2 * static_cast<std::uint64_t>(series.made * setup.options.rdma.messages);
  row.lost = findings.lost;
  row.wrong = findings.wrong;
  row.first_wrong = findings.first_wrong;
  row.status = static_cast<int>(series.problem.status);
  row.problem = series.problem.text;
  return row;
}

/// A row a pair, on the first process: the second process of a pair adds what it found in messages.
std::vector<ConnectRow> all_rows(const mpi::Communicator& world, const ConnectRow& own) {
  std::vector<ConnectRow> rows;
  for (ConnectRow& row : gather_all(world, own)) {
    const auto same = std::find_if(rows.begin(), rows.end(), [&](const auto& other) { return other.pair == row.pair; });
    if (same == rows.end()) {
      rows.push_back(std::move(row));
      continue;
    }
    same->lost += row.lost;
    if (same->wrong == 0) same->first_wrong = row.first_wrong;
    same->wrong += row.wrong;
  }
  return rows;
}

/// On the first process. A pair that did not get on comes before data that is wrong: it was not all checked.
Ending conclude_connections(const std::vector<ConnectRow>& rows) {
  Ending ending;
  ending.reason = "every connection was made, used and ended, and every message that came was right";
  ending.precision = "Precision: times of single connections, as they were";
  std::int64_t failed = 0;
  for (const ConnectRow& row : rows) {
    if (row.lost > 0) {
      ending.notes.push_back(fmt::format("Pair {}: {} of {} datagrams were lost", row.pair, row.lost, row.messages));
    }
    if (row.wrong > 0) {
      ending.wrong_checks += row.wrong;
      ending.notes.push_back(
          fmt::format("Wrong data in {} messages of pair {}; {}", row.wrong, row.pair, row.first_wrong));
      if (ending.exit_status == 0) {
        ending.exit_status = static_cast<int>(ExitStatus::kWrongData);
        ending.reason = ending.notes.back();
      }
    }
    if (row.status == 0) continue;
    ending.notes.push_back(fmt::format("Pair {} ended with connection {}: {}", row.pair, row.connections, row.problem));
    if (failed++ > 0) continue;
    ending.exit_status = row.status;
    ending.reason = ending.notes.back();
  }
  if (failed > 1) ending.reason += fmt::format("; {} more pairs ended early", failed - 1);
  return ending;
}

/// The last words of a process whose other one does not answer any more.
[[noreturn]] void end_job(const Job& job, const ConnectSetup& setup, const std::string& text) {
  say(job.program.name, fmt::format("rank {} on {}: {}", job.world.rank(), setup.placed.host, text));
  abandon(setup.outputs, ExitStatus::kTimeout, text);
  std::_Exit(static_cast<int>(ExitStatus::kTimeout));
}

/// What to say where the other process does not come to an agreement, and how long it may take: with a problem of one's
/// own, as long as the other one may wait for this one in two steps; else for all steps of a phase.
void arm(AgreementWatch& watch, const ConnectSetup& setup, const rdma_cm::Problem& own) {
  const Seconds limit = setup.options.rdma.stall_timeout;
  const bool fine = own.status == ExitStatus::kOk;
  const Seconds patience = (fine ? 5 : 2) * limit + 1;
  const std::string silence =
      fmt::format("{} did not answer over MPI for {}; is it stopped, or gone?", setup.peer, readable_seconds(patience));
  watch.arm(patience, fine ? silence : fmt::format("{}; and {}", own.text, silence));
}

/// This side's part of its pair's connections.
ConnectRow make_connections(const Job& job, const ConnectSetup& setup, Heartbeat& heartbeat) {
  const RdmaOptions& rdma = setup.options.rdma;
  const rdma_cm::SideSettings settings{rdma.transport, static_cast<std::uint32_t>(rdma.messages), rdma.stall_timeout,
                                       setup.peer, now};
  std::unique_ptr<rdma_cm::Side> side;
  if (setup.connects()) {
    side = std::make_unique<rdma_cm::ConnectingSide>(*setup.link, settings);
  } else {
    side = std::make_unique<rdma_cm::AcceptingSide>(*setup.link, settings);
  }
  AgreementWatch watch([&](const std::string& text) { end_job(job, setup, text); });
  const auto agree = [&](const rdma_cm::Problem& own) {
    heartbeat.tick();
    arm(watch, setup, own);
    rdma_cm::Problem agreed = agree_in_pair(setup.team->group(), own);
    watch.disarm();
    return agreed;
  };
  const rdma_cm::Series series = rdma_cm::make_connections(*side, rdma.connections, agree, now);
  return row_of(setup, series, side->findings());
}

int measure(const mpi::Communicator& world, const Job& job, const ConnectSetup& setup, Heartbeat& heartbeat) {
  const SystemUsage usage;
  const Context context = describe(world, job, setup);
  setup.outputs.begin(context);
  heartbeat.enter(Phase::kMeasure);
  world.barrier();
  const std::vector<ConnectRow> rows = all_rows(world, make_connections(job, setup, heartbeat));
  heartbeat.enter(Phase::kReport);
  Ending ending = conclude_connections(rows);
  usage.add_to(ending, world);
  for (const ConnectRow& row : rows) setup.outputs.record(row);
  setup.outputs.end(ending);
  if (world.is_root() && ending.exit_status != 0) say(job.program.name, ending.reason);
  return static_cast<int>(world.broadcast(std::int64_t{ending.exit_status}));
}

/// Every step has a time limit of its own, and who waits in it knows which it is; the watchdog is for what hangs
/// elsewhere, in set-up or in MPI.
int run_members(const Members& members, Job& job) {
  const mpi::Communicator& world = *members.communicator;
  ConnectSetup setup;
  Heartbeat heartbeat;
  const Watchdog watchdog(
      world, heartbeat, job.options.timeout,
      world.gather(fmt::format("rank {} on {}", job.world.rank(), host::host_name())), [] { return std::string(); },
      [&](const std::string& reason) { abandon(setup.outputs, ExitStatus::kTimeout, reason); });
  try {
    setup = set_up_connections(world, job.world.rank(), std::move(job.options), members.notices);
  } catch (const Error& error) {
    return refuse(world, job.program.name, error);
  }
  try {
    return measure(world, job, setup, heartbeat);
  } catch (const std::exception& error) {
    abandon(setup.outputs, error);
    throw;
  }
}

int run(Job& job) {
  Members members;
  try {
    members = choose_members(job.world, Meetings(), job.options);
  } catch (const Error& error) {
    return refuse(job.world, job.program.name, error);
  }
  const int status = members.communicator ? run_members(members, job) : 0;
  return static_cast<int>(job.world.max_patiently(status));
}

}  // namespace

int run_connections(const Program& program, int argc, char** argv) { return run_job(program, argc, argv, run); }

}  // namespace fabricbench
