#include "common/copies/copy_program.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/copies/copy_bench.h"
#include "common/copies/copy_plan.h"
#include "common/copies/copy_setup.h"
#include "common/core/error.h"
#include "common/engine/conclusion.h"
#include "common/engine/describe.h"
#include "common/engine/engine.h"
#include "common/engine/setup.h"
#include "common/host/identity.h"
#include "common/ranks/exchange.h"
#include "common/watch/watchdog.h"

namespace fabricbench {
namespace {

/// Releases the buffers only if the run was completed: releasing the buffers of a copy that hangs would hang too.
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
  std::unique_ptr<gpu::GpuCopies> copies_;  // null if this process has nothing to copy
};

/// Every process's rows on the first one, GPU by GPU in the order of the hosts.
std::vector<CopyRow> all_rows(const mpi::Communicator& world, const std::vector<CopyRow>& own) {
  std::vector<CopyRow> all = gather_lists_on_first(world, own);
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

/// The notes on the links of all processes, on the first one.
std::vector<std::string> link_notes(const mpi::Communicator& world, const CopySetup& setup,
                                    const gpu::GpuCopies* copies) {
  std::vector<std::string> own;
  if (copies != nullptr) {
    for (const std::string& note : copies->notes()) own.push_back(fmt::format("Host {}: {}", setup.placed.host, note));
  }
  std::vector<std::string> notes;
  for (std::string& note : gather_lists_on_first(world, own)) {
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

/// The precision of the figures, in one line.
std::string precision_line(const std::vector<CopyRow>& rows, const Options& options) {
  if (options.iterations) return "Precision unknown: -n measures one epoch";
  double widest = 0;
  for (const CopyRow& row : rows) {
    if (!row.summary.interval) return "Precision unknown: an interval takes 6 epochs";
    widest = std::max(widest, row.summary.interval->half_width());
  }
  return fmt::format("Precision: {} epochs a copy; the widest interval is +-{:.1f} %", options.epochs, 100 * widest);
}

/// Copies of every process's GPUs, one after the other on each.
class CopyWork final : public Work {
 public:
  explicit CopyWork(Job& job) : Work(job, {.are_all = true}) {}

  void set_up(Outputs& outputs) override {
    outputs_ = &outputs;
    setup_ = set_up_copies(world(), std::move(job().options));
    outputs = open_outputs(world(), Figure::kCopies, setup_.options);
    heartbeat().tick();
  }

  [[nodiscard]] Context make_context() override {
    const Team team(world(), "");
    Context context = context_of(world(), job(), setup_.options, setup_.placed);
    context.figure = Figure::kCopies;
    context.backend = "cuda";
    context.backend_reason = "GPUs make the copies";
    context.library = gpu::copy_library();
    context.ranks = describe_processes(team, setup_.placed);
    context.groups = describe_groups(context.ranks);
    context.seed = agreed_seed(world(), setup_.options);
    context.notices = setup_.notices;
    return context;
  }

  [[nodiscard]] Ending measure(const Context& context) override {
    const CopyBuffers buffers(setup_);
    heartbeat().enter(Phase::kMeasure);
    CopyBench bench(world(), setup_, buffers.get(), heartbeat(), context.seed);
    const auto all_compared = [&](const std::vector<CopyRow>& own) {
      std::vector<CopyRow> rows = all_rows(world(), own);
      compare_gpus(rows);
      return rows;
    };
    const std::vector<CopyRow> rows =
        all_compared(bench.measure_copies([&](const std::vector<CopyRow>& own) { outputs_->keep(all_compared(own)); }));
    heartbeat().enter(Phase::kReport);
    Ending ending = conclude_copies(rows, setup_.options);
    ending.precision = precision_line(rows, setup_.options);
    for (std::string& note : link_notes(world(), setup_, buffers.get())) ending.notes.push_back(std::move(note));
    for (const CopyRow& row : rows) outputs_->record(row);
    return ending;
  }

 private:
  [[nodiscard]] Heartbeat& heartbeat() const { return job().watchdog.heartbeat(); }

  Outputs* outputs_ = nullptr;
  CopySetup setup_;
};

}  // namespace

int run_copies(const Program& program, int argc, char** argv) {
  return run(
      program, [](Job& job) { return std::make_unique<CopyWork>(job); }, argc, argv);
}

}  // namespace fabricbench
