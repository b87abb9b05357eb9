#include "common/backends/rdma/connect_work.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "common/backends/rdma/agreement_watch.h"
#include "common/backends/rdma/connect_setup.h"
#include "common/backends/rdma_cm/side.h"
#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/engine/conclusion.h"
#include "common/engine/describe.h"
#include "common/engine/engine.h"
#include "common/engine/pair_plan.h"
#include "common/engine/setup.h"
#include "common/host/identity.h"
#include "common/processors/processor_meter.h"
#include "common/ranks/agreement.h"
#include "common/ranks/exchange.h"
#include "common/watch/watchdog.h"

namespace fabricbench {
namespace {

/// Prefers the problem of the connecting side, because the other side may only have waited for it.
rdma_cm::Problem agree_in_pair(const mpi::Communicator& group, const rdma_cm::Problem& own) {
  const std::vector<std::string> texts = all_gather(group, fmt::format("{}{}", static_cast<int>(own.status), own.text));
  for (const std::string& text : texts) {
    const auto status = static_cast<ExitStatus>(text.front() - '0');  // one digit
    if (status != ExitStatus::kOk) return {status, text.substr(1)};
  }
  return {};
}

/// This side's results for its pair. The times are those of the connecting side.
ConnectRow row_of(const ConnectSetup& setup, const rdma_cm::Series& series, const rdma_cm::SideResults& findings) {
  ConnectRow row;
  row.pair = setup.team->group_number();
  for (std::size_t step = 0; step < kConnectSteps; ++step) {
    row.steps.push_back(summarize(static_cast<ConnectStep>(step), findings.times[step], findings.took[step]));
  }
  row.connections = series.made;
  row.failed = static_cast<std::int64_t>(findings.failed);
  row.rate = series.took > 0 ? static_cast<double>(series.made) / series.took : 0;
  row.messages = 2 * static_cast<std::uint64_t>(series.made * setup.options.rdma.messages);
  row.lost = findings.lost;
  row.wrong = findings.wrong;
  row.first_wrong = findings.first_wrong;
  row.status = static_cast<int>(series.problem.status);
  row.problem = series.problem.text;
  return row;
}

/// A row per pair, on the first process. The second process of a pair adds its findings about messages.
std::vector<ConnectRow> all_rows(const mpi::Communicator& world, const ConnectRow& own) {
  std::vector<ConnectRow> rows;
  for (ConnectRow& row : gather_on_first(world, own)) {
    const auto same = std::find_if(rows.begin(), rows.end(), [&](const auto& other) { return other.pair == row.pair; });
    if (same == rows.end()) {
      rows.push_back(std::move(row));
      continue;
    }
    same->failed = std::max(same->failed, row.failed);
    same->lost += row.lost;
    if (same->wrong == 0) same->first_wrong = row.first_wrong;
    same->wrong += row.wrong;
  }
  return rows;
}

/// On the first process. A pair that ended early takes precedence over wrong data, because its data was not all
/// checked.
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
    ending.notes.push_back(fmt::format("Pair {} ended with {}", row.pair, row.problem));
    if (failed++ > 0) continue;
    ending.exit_status = row.status;
    ending.reason = ending.notes.back();
  }
  if (failed > 1) ending.reason += fmt::format("; {} more pairs ended early", failed - 1);
  return ending;
}

/// Sets the time limit of an agreement with the other process. After a problem on this side, the other process may wait
/// for this one in two more steps; otherwise it may take all steps of a phase, with some time for each connection.
void arm(AgreementWatch& watch, const ConnectSetup& setup, const rdma_cm::Problem& own) {
  const Seconds limit = setup.options.rdma.stall_timeout;
  const bool fine = own.status == ExitStatus::kOk;
  constexpr Seconds kForOne = 0.02;
  const Seconds patience = (fine ? 5 : 2) * limit + 1 + static_cast<double>(setup.options.rdma.parallel) * kForOne;
  const std::string silence =
      fmt::format("{} did not answer over MPI for {}; is it stopped, or gone?", setup.peer, readable_seconds(patience));
  watch.arm(patience, fine ? silence : fmt::format("{}; and {}", own.text, silence));
}

/// Connections between the two ranks of each pair, at the same time in all pairs. Every step has its own time limit,
/// and its error names the step; the watchdog covers everything else, such as set-up and MPI.
class ConnectWork final : public Work {
 public:
  using Work::Work;

  void set_up(Outputs& outputs) override {
    outputs_ = &outputs;
    setup_ = set_up_connections(world(), job().world.rank(), std::move(job().options), notices_of_members());
    outputs = open_outputs(world(), Figure::kConnections, setup_.options);
  }

  [[nodiscard]] Context make_context() override {
    Context context = context_of(world(), job(), setup_.options, setup_.placed);
    context.figure = Figure::kConnections;
    context.backend = "verbs";
    context.backend_reason = "this program measures it";
    context.library = "librdmacm and libibverbs";
    context.ranks = describe_processes(*setup_.team, setup_.placed);
    context.groups = describe_pairs(context.ranks);
    context.notices = setup_.notices;
    return context;
  }

  [[nodiscard]] Ending measure(const Context& /*context*/) override {
    heartbeat().enter(Phase::kMeasure);
    ProcessorMeter processors(*setup_.team, setup_.placed, 1, true);
    world().barrier();
    const std::vector<ConnectRow> rows = all_rows(world(), make_connections(processors));
    const ProcessorReport ran_on = processors.report();
    heartbeat().enter(Phase::kReport);
    for (const ConnectRow& row : rows) outputs_->record(row);
    Ending ending = conclude_connections(rows);
    ran_on.add_to(ending);
    return ending;
  }

 private:
  /// Makes this side's part of its pair's connections, and notes where it runs after each phase of them.
  [[nodiscard]] ConnectRow make_connections(ProcessorMeter& processors) {
    const RdmaOptions& rdma = setup_.options.rdma;
    const rdma_cm::SideSettings settings{rdma.transport,
                                         static_cast<std::uint32_t>(rdma.messages),
                                         rdma.stall_timeout,
                                         setup_.peer,
                                         now,
                                         static_cast<std::size_t>(rdma.parallel)};
    std::unique_ptr<rdma_cm::Side> side;
    if (setup_.connects()) {
      side = std::make_unique<rdma_cm::ConnectingSide>(*setup_.links, settings);
    } else {
      side = std::make_unique<rdma_cm::AcceptingSide>(*setup_.links, settings);
    }
    AgreementWatch watch([this](const std::string& text) { end_without_peer(text); });
    const auto agree = [&](const rdma_cm::Problem& own) {
      heartbeat().tick();
      processors.note();  // before a wait for the other side moves it
      arm(watch, setup_, own);
      rdma_cm::Problem agreed = agree_in_pair(setup_.team->group(), own);
      watch.disarm();
      return agreed;
    };
    const rdma_cm::Series series = rdma_cm::make_connections(*side, rdma.connections, agree);
    return row_of(setup_, series, side->findings());
  }

  /// Ends the job if the other process of the pair no longer answers: an MPI call would wait for it for ever.
  [[noreturn]] void end_without_peer(const std::string& text) {
    say(job().program.name, fmt::format("{}: {}", host::name_of_process(job().world.rank(), setup_.placed.host), text));
    abandon(*outputs_, ExitStatus::kTimeout, text);
    std::_Exit(static_cast<int>(ExitStatus::kTimeout));
  }

  [[nodiscard]] Heartbeat& heartbeat() const { return job().watchdog.heartbeat(); }

  Outputs* outputs_ = nullptr;
  ConnectSetup setup_;
};

}  // namespace

int run_connections(const Program& program, int argc, char** argv) {
  const auto agree = [&program](Job& job) {
    return std::make_unique<ConnectWork>(job, choose_members(job.world, program.name, job.options));
  };
  return run(program, agree, argc, argv);
}

}  // namespace fabricbench
