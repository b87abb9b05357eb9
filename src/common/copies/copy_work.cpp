#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/copies/copy_plan.h"
#include "common/copies/copy_program.h"
#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/core/ownership.h"
#include "common/core/random.h"
#include "common/core/statistics.h"
#include "common/engine/conclusion.h"
#include "common/engine/describe.h"
#include "common/engine/engine.h"
#include "common/engine/setup.h"
#include "common/programs/run_program.h"
#include "common/ranks/agreement.h"
#include "common/record/copy_row.h"
#include "common/watch/watchdog.h"

namespace fabricbench {
namespace {

/// Measures the copies of a host one after the other, across its processes, so that none disturbs another. All hosts
/// measure at the same time. An epoch visits every copy once, in random order.
class CopyBench {
 public:
  /// Does not own what it is given.
  CopyBench(const mpi::Communicator& world, const CopySetup& setup, gpu::GpuCopies* copies, Heartbeat& heartbeat,
            std::uint64_t seed);

  /// Measures everything. Collective. Returns the rows of this process's copies, and hands them to `after_epoch` after
  /// each epoch but the last, as far as they are known then. Throws Error, on one process only, that says which copy
  /// failed.
  [[nodiscard]] std::vector<CopyRow> measure_copies(
      const std::function<void(const std::vector<CopyRow>& rows)>& after_epoch);

 private:
  struct Subject;

  void run_epoch(std::vector<Subject>& subjects);
  void try_visit(Subject& subject);
  void visit(Subject& subject);
  void plan(Subject& subject);
  void check(Subject& subject);
  void add_times(Subject& subject, const std::vector<std::vector<Seconds>>& times) const;
  [[nodiscard]] std::vector<CopyRow> rows_of(const std::vector<Subject>& subjects) const;
  [[nodiscard]] CopyRow conclude(const Subject& subject) const;
  [[nodiscard]] std::string describe(const SizedCopy& which) const;

  const CopySetup& setup_;
  const Options& options_;
  gpu::GpuCopies* copies_;  // null if this process has no copies of its own
  Heartbeat& heartbeat_;
  std::mt19937_64 random_;
  std::size_t first_ = 0;  // place of this process's first copy among those of its host
  std::size_t all_ = 0;    // the copies of this host
  std::size_t most_ = 0;   // the copies of the host with the most
};

constexpr std::int64_t kMostCopiesPerVisit = 100;

/// The sum of `own` over the processes before this one, and over all.
std::pair<std::size_t, std::size_t> place_among(const mpi::Communicator& host, std::size_t own) {
  const std::vector<std::uint64_t> counts = host.all_gather(own);
  const auto self = counts.begin() + host.rank();
  return {std::accumulate(counts.begin(), self, std::size_t{0}),
          std::accumulate(counts.begin(), counts.end(), std::size_t{0})};
}

struct CopyBench::Subject {
  SizedCopy which;
  std::int64_t samples = 0;  // of a visit; 0: not planned yet
  std::vector<Epoch> epochs{};
  std::vector<double> to_device{};  // both ways: bytes per second, by visit
  std::vector<double> to_host{};
  std::optional<std::uint64_t> wrong{};
  std::string first_wrong{};
};

CopyBench::CopyBench(const mpi::Communicator& world, const CopySetup& setup, gpu::GpuCopies* copies,
                     Heartbeat& heartbeat, std::uint64_t seed)
    : setup_(setup), options_(setup.options), copies_(copies), heartbeat_(heartbeat), random_(seed) {
  std::tie(first_, all_) = place_among(*setup.host, setup.copies.size());
  most_ = static_cast<std::size_t>(world.max(static_cast<std::int64_t>(all_)));
}

std::vector<CopyRow> CopyBench::measure_copies(
    const std::function<void(const std::vector<CopyRow>& rows)>& after_epoch) {
  std::vector<Subject> subjects;
  subjects.reserve(setup_.copies.size());
  for (const SizedCopy& which : setup_.copies) subjects.push_back({which});
  const std::int64_t epochs = options_.iterations ? 1 : options_.epochs;
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    if (epoch > 0) after_epoch(rows_of(subjects));
    run_epoch(subjects);
  }
  return rows_of(subjects);
}

std::vector<CopyRow> CopyBench::rows_of(const std::vector<Subject>& subjects) const {
  std::vector<CopyRow> rows;
  rows.reserve(subjects.size());
  for (const Subject& subject : subjects) rows.push_back(conclude(subject));
  return rows;
}

/// Every process of the host goes through all of the host's copies in the same order.
void CopyBench::run_epoch(std::vector<Subject>& subjects) {
  std::vector<std::size_t> order(all_);
  std::iota(order.begin(), order.end(), 0);
  if (!options_.iterations) shuffle(order, random_);
  for (const std::size_t index : order) {
    if (index >= first_ && index - first_ < subjects.size()) try_visit(subjects[index - first_]);
    setup_.host->barrier();
    heartbeat_.tick();
  }
  // Every host takes the same number of steps, which shows the watchdog who is behind.
  for (std::size_t i = all_; i < most_; ++i) heartbeat_.tick();
}

/// Adds to an error which copy failed.
void CopyBench::try_visit(Subject& subject) {
  const std::string label = describe(subject.which);
  heartbeat_.enter_case(label);
  try {
    visit(subject);
  } catch (const Error& error) {
    throw Error(error.status(), fmt::format("{}: {}", label, error.what()));
  }
  heartbeat_.enter_case("");
}

void CopyBench::visit(Subject& subject) {
  const auto& [copy, size] = subject.which;
  if (subject.samples == 0) plan(subject);
  copies_->prepare(copy, size);
  if (options_.warmup > 0) (void)copies_->time_copies(copy, size, options_.warmup);
  Epoch epoch;
  epoch.began = now();
  subject.epochs.push_back(std::move(epoch));
  add_times(subject, copies_->time_copies(copy, size, subject.samples));
  if (options_.checks > 0) check(subject);
}

/// Decides the number of copies in a visit from one untimed copy, and makes the additional checked copies.
void CopyBench::plan(Subject& subject) {
  const auto& [copy, size] = subject.which;
  for (std::int64_t i = 0; i < options_.checks; ++i) {
    copies_->prepare(copy, size);
    (void)copies_->time_copies(copy, size, 1);
    check(subject);
  }
  if (options_.iterations) {
    subject.samples = *options_.iterations;
    return;
  }
  copies_->prepare(copy, size);
  const auto times = copies_->time_copies(copy, size, 1);
  const Seconds each = std::max_element(times.begin(), times.end())->front();
  const Seconds share = options_.time_budget / static_cast<double>(options_.epochs);
  const double fitting = std::min(share / std::max(each, 1e-9), static_cast<double>(kMostCopiesPerVisit));
  subject.samples = std::max<std::int64_t>(static_cast<std::int64_t>(fitting) - options_.warmup, 1);
}

void CopyBench::check(Subject& subject) {
  const auto wrong = copies_->check(subject.which.copy, subject.which.size);
  subject.wrong = std::max(subject.wrong.value_or(0), wrong ? wrong->count : 0);
  if (wrong && subject.first_wrong.empty()) {
    subject.first_wrong =
        fmt::format("first at byte {}: expected {}, got {}", wrong->first_offset, wrong->expected, wrong->got);
  }
}

/// For both ways a visit is one sample: the time in which one copy's bytes have gone each way.
void CopyBench::add_times(Subject& subject, const std::vector<std::vector<Seconds>>& times) const {
  std::vector<Seconds>& samples = subject.epochs.back().samples;
  if (times.size() == 1) {
    samples = times.front();
    return;
  }
  const Bytes size = subject.which.size;
  const BothRates rates = rates_of_both(size, times[0], times[1]);
  subject.to_device.push_back(rates.first);
  subject.to_host.push_back(rates.second);
  samples = {rates.sum() > 0 ? 2 * static_cast<double>(size) / rates.sum() : 0};
}

CopyRow CopyBench::conclude(const Subject& subject) const {
  const auto& [copy, size] = subject.which;
  CopyRow row;
  row.host = setup_.location.host;
  row.gpu = setup_.gpu(copy.device);
  row.kind = copy.kind;
  row.memory_node = copy.memory_node;
  if (copy.peer >= 0) row.peer = setup_.gpu(copy.peer);
  row.over_host = copies_->over_host(copy);
  row.size = size;
  row.summary = summarize(subject.epochs);
  const bool both = !subject.to_device.empty();
  const double carried = static_cast<double>(size) * (both ? 2 : 1);
  row.bandwidth = row.summary.median > 0 ? carried / row.summary.median : 0;
  if (both) row.directions = {median(subject.to_device), median(subject.to_host)};
  row.bound = copies_->bound(copy).value_or(CopyBound{});
  row.wrong = subject.wrong;
  row.first_wrong = subject.first_wrong;
  return row;
}

std::string CopyBench::describe(const SizedCopy& which) const {
  const CopyGpu& gpu = setup_.gpu(which.copy.device);
  std::string text =
      fmt::format("{} {} on GPU {} ({})", readable_bytes(which.size), short_name(which.copy.kind), gpu.device, gpu.pci);
  if (which.copy.memory_node) text += fmt::format(", NUMA node {}", *which.copy.memory_node);
  if (which.copy.peer >= 0) text += fmt::format(", to GPU {}", which.copy.peer);
  return text;
}

/// Releases the buffers only if the run was completed: releasing the buffers of a copy that hangs would hang too.
class CopyBuffers : NotCopied {
 public:
  explicit CopyBuffers(const CopySetup& setup) {
    if (!setup.copies.empty()) copies_ = gpu::open_copies(setup.memory);
  }
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
    for (const std::string& note : copies->notes())
      own.push_back(fmt::format("Host {}: {}", setup.location.host, note));
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
    outputs = open_outputs(world(), RowKind::kCopies, setup_.options, job().make_judges);
    heartbeat().tick();
  }

  [[nodiscard]] Context make_context() override {
    const Team team(world(), "");
    Context context = context_of(world(), job(), setup_.options, setup_.location);
    context.row_kind = RowKind::kCopies;
    context.backend = "cuda";
    context.backend_reason = "GPUs make the copies";
    context.library = gpu::copy_library();
    context.ranks = describe_processes(team, setup_.location);
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
      program, [](Job& job) { return std::make_unique<CopyWork>(job); }, make_judges, argc, argv);
}

}  // namespace fabricbench
