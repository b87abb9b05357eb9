#include "common/harness/copy_program.h"

#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/core/error.h"
#include "common/harness/conclusion.h"
#include "common/harness/copy_bench.h"
#include "common/harness/copy_plan.h"
#include "common/harness/copy_setup.h"
#include "common/harness/exchange.h"
#include "common/harness/job.h"
#include "common/harness/watchdog.h"
#include "common/host/identity.h"

namespace fabricbench {
namespace {

Context describe(const Job& job, const CopySetup& setup) {
  const Team team(job.world, "");
  Context context = context_of(job.world, job, setup.options, setup.placed);
  context.figure = Figure::kCopies;
  context.backend = "cuda";
  context.backend_reason = "GPUs make the copies";
  context.library = gpu::copy_library();
  context.ranks = describe_processes(team, setup.placed);
  context.groups = describe_groups(context.ranks);
  context.seed = agreed_seed(job.world, setup.options);
  context.notices = setup.notices;
  return context;
}

/// Leaves the buffers to the system unless the run got to its end: giving back what a copy that hangs works on would
/// wait for it.
class CopyBuffers {
 public:
  explicit CopyBuffers(const CopySetup& setup) {
    if (!setup.copies.empty()) copies_ = gpu::open_copies(setup.memory);
  }
  CopyBuffers(const CopyBuffers&) = delete;
  CopyBuffers& operator=(const CopyBuffers&) = delete;
  ~CopyBuffers() {
    if (std::uncaught_exceptions() > 0) (void)copies_.release();
  }

  [[nodiscard]] gpu::GpuCopies* get() const { return copies_.get(); }

 private:
  std::unique_ptr<gpu::GpuCopies> copies_;  // none where this process has nothing to copy
};

/// Every process's rows on the first one, GPU by GPU in the order of the hosts.
std::vector<CopyRow> all_rows(const mpi::Communicator& world, const std::vector<CopyRow>& own) {
  std::vector<CopyRow> all = gather_lists(world, own);
  std::vector<std::string> hosts;
  for (const CopyRow& row : all) {
    if (std::find(hosts.begin(), hosts.end(), row.host) == hosts.end()) hosts.push_back(row.host);
  }
  const auto place = [&](const CopyRow& row) {
    return std::pair(std::find(hosts.begin(), hosts.end(), row.host) - hosts.begin(), row.gpu.pci);
  };
  std::stable_sort(all.begin(), all.end(), [&](const CopyRow& a, const CopyRow& b) { return place(a) < place(b); });
  return all;
}

/// What the links were like, of every process, on the first one.
std::vector<std::string> link_notes(const mpi::Communicator& world, const CopySetup& setup,
                                    const gpu::GpuCopies* copies) {
  std::vector<std::string> own;
  if (copies != nullptr) {
    for (const std::string& note : copies->notes()) own.push_back(fmt::format("Host {}: {}", setup.placed.host, note));
  }
  std::vector<std::string> notes;
  for (std::string& note : gather_lists(world, own)) {
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(std::move(note));
  }
  return notes;
}

void note_wrong(const CopyRow& row, Ending& ending) {
  if (row.wrong.value_or(0) == 0) return;
  ++ending.wrong_checks;
  ending.notes.push_back(fmt::format(
      "Wrong data in {} {} of GPU {} ({}) of host {}{}: {} bytes; {}", readable_bytes(row.size), short_name(row.kind),
      row.gpu.device, row.gpu.pci, row.host,
      row.peer ? fmt::format(" to GPU {} ({})", row.peer->device, row.peer->pci) : "", *row.wrong, row.first_wrong));
}

/// On the first process.
Ending conclude_copies(const std::vector<CopyRow>& rows, const Options& options) {
  Ending ending;
  for (const CopyRow& row : rows) note_wrong(row, ending);
  for (std::string& text : findings(rows)) ending.notes.push_back(std::move(text));
  ending.reason = options.checks == 0 ? "every copy was measured; nothing was checked, as --check 0 asks"
                                      : "every copy was measured and every check passed";
  if (ending.wrong_checks == 0) return ending;
  ending.exit_status = static_cast<int>(ExitStatus::kWrongData);
  ending.reason = fmt::format("{} copies delivered wrong data; {}", ending.wrong_checks, ending.notes.front());
  return ending;
}

/// How precise the figures are.
std::string precision_line(const std::vector<CopyRow>& rows, const Options& options) {
  if (options.iterations) return "Precision unknown: -n measures one epoch";
  double widest = 0;
  for (const CopyRow& row : rows) {
    if (!row.summary.interval) return "Precision unknown: an interval takes 6 epochs";
    widest = std::max(widest, row.summary.interval->half_width());
  }
  return fmt::format("Precision: {} epochs a copy; the widest interval is +-{:.1f} %", options.epochs, 100 * widest);
}

int measure(const Job& job, CopySetup& setup, Heartbeat& heartbeat) {
  const SystemUsage usage;
  const Context context = describe(job, setup);
  const CopyBuffers buffers(setup);
  setup.outputs.begin(context);
  heartbeat.enter(Phase::kMeasure);
  CopyBench bench(job.world, setup, buffers.get(), heartbeat, context.seed);
  std::vector<CopyRow> rows = all_rows(job.world, bench.run());
  heartbeat.enter(Phase::kReport);
  compare_gpus(rows);
  Ending ending = conclude_copies(rows, setup.options);
  ending.precision = precision_line(rows, setup.options);
  for (std::string& note : link_notes(job.world, setup, buffers.get())) ending.notes.push_back(std::move(note));
  usage.add_to(ending, job.world);
  for (const CopyRow& row : rows) setup.outputs.record(row);
  setup.outputs.end(ending);
  if (job.world.is_root() && ending.exit_status != 0) say(job.program.name, ending.reason);
  return static_cast<int>(job.world.broadcast(std::int64_t{ending.exit_status}));
}

/// A driver may hang as soon as it is asked for GPUs, so the watchdog comes first. Who waits for a copy knows which,
/// and speaks before it.
int run(Job& job) {
  CopySetup setup;
  Heartbeat heartbeat;
  const Seconds limit = job.options.timeout > 0 ? 1.1 * job.options.timeout + 1 : 0;
  const Watchdog watchdog(
      job.world, heartbeat, limit, job.world.gather(fmt::format("rank {} on {}", job.world.rank(), host::host_name())),
      [] { return std::string(); },
      [&](const std::string& reason) { abandon(setup.outputs, ExitStatus::kTimeout, reason); });
  try {
    setup = set_up_copies(job.world, std::move(job.options));
  } catch (const Error& error) {
    return refuse(job.world, job.program.name, error);
  }
  heartbeat.tick();
  try {
    return measure(job, setup, heartbeat);
  } catch (const std::exception& error) {
    abandon(setup.outputs, error);
    throw;
  }
}

}  // namespace

int run_copies(const Program& program, int argc, char** argv) { return run_job(program, argc, argv, run); }

}  // namespace fabricbench
