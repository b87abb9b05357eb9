#include "common/harness/bench.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "common/core/bandwidth.h"
#include "common/core/clock.h"
#include "common/core/statistics.h"

namespace fabricbench {
namespace {

constexpr std::int64_t kBatchesPerVisit = 5;
constexpr std::int64_t kMostIterationsPerVisit = 5000;
constexpr std::int64_t kMostSamplesPerVisit = 1000;
constexpr std::int64_t kEpochsAdded = 3;
constexpr double kFirstShare = 0.5;  // of the time budget, for the epochs that are measured in any case
constexpr double kLeastEpoch = 0.3;  // of the time budget: how long an epoch lasts at least
constexpr std::size_t kMostNotes = 20;

/// The same shuffle on every rank and with every C++ library: std::shuffle may differ between them.
void shuffle(std::vector<std::size_t>& order, std::mt19937_64& random) {
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
}

std::vector<Seconds> all_samples(const std::vector<Epoch>& epochs) {
  std::vector<Seconds> samples;
  for (const Epoch& epoch : epochs) samples.insert(samples.end(), epoch.samples.begin(), epoch.samples.end());
  return samples;
}

Seconds median_cpu_time(const std::vector<Epoch>& epochs) {
  std::vector<Seconds> times;
  times.reserve(epochs.size());
  for (const Epoch& epoch : epochs) times.push_back(median(epoch.cpu_times));
  return median(times);
}

}  // namespace

struct Bench::Subject {
  Case which;
  Operation operation;
  VisitPlan plan{};
  std::int64_t epochs_done = 0;
  bool visited = false;
  Epoch current{};                // rank 0: the visits of the epoch under way
  std::vector<Epoch> epochs{};    // rank 0
  std::vector<double> medians{};  // rank 0: of the epochs
  Seconds spent = 0;              // rank 0's clock
  std::uint64_t wrong = 0;        // on this rank: elements, in the worst of the checks
  std::string first_wrong{};      // on this rank
};

Bench::Bench(const mpi::Communicator& world, const Options& options, const Collective& collective, Backend& backend,
             Workspace& workspace, Meter& meter, Heartbeat& heartbeat, std::uint64_t seed,
             std::vector<std::unique_ptr<Sink>>& sinks)
    : world_(world),
      options_(options),
      collective_(collective),
      backend_(backend),
      workspace_(workspace),
      meter_(meter),
      heartbeat_(heartbeat),
      random_(seed),
      sinks_(sinks),
      progress_(world.is_root() && (options.progress || ProgressLine::wanted())) {}

void Bench::run(const std::vector<Case>& cases) {
  workspace_.use(cases.front().datatype, cases.front().reduction);
  std::vector<Subject> subjects;
  subjects.reserve(cases.size());
  for (const Case& which : cases) {
    subjects.push_back(
        {which, Operation(collective_, backend_, workspace_, which, options_.buffers, world_.rank()), {}});
  }
  if (options_.iterations || options_.order == Order::kSequential) {
    measure_in_order(subjects);
  } else {
    measure_interleaved(subjects);
    progress_.clear();
    report_rows(subjects);
  }
}

/// One size after the other, each row as soon as it is known.
void Bench::measure_in_order(std::vector<Subject>& subjects) {
  for (std::size_t first = 0; first < subjects.size();) {
    std::size_t end = first + 1;
    while (end < subjects.size() && subjects[end].which.size == subjects[first].which.size) ++end;
    std::vector<Subject> row(std::make_move_iterator(subjects.begin() + static_cast<std::ptrdiff_t>(first)),
                             std::make_move_iterator(subjects.begin() + static_cast<std::ptrdiff_t>(end)));
    if (options_.iterations) {
      for (Subject& subject : row) {
        plan(subject);
        visit(subject);
        finish_epoch(subject);
      }
    } else {
      measure_interleaved(row);
    }
    progress_.clear();
    report_rows(row);
    first = end;
  }
}

/// Epochs that visit all subjects, each in another random order, until every one is precise or out of time.
void Bench::measure_interleaved(std::vector<Subject>& subjects) {
  for (Subject& subject : subjects) plan(subject);
  const Seconds began = now();
  std::int64_t done = 0;
  std::vector<std::uint8_t> active(subjects.size(), 1);
  for (std::int64_t epochs = options_.epochs; std::count(active.begin(), active.end(), 1) > 0; epochs += kEpochsAdded) {
    for (; done < epochs; ++done) {
      measure_epoch(subjects, active);
      show_progress(subjects, epochs, began);
    }
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      active[i] = world_.is_root() && wants_more(subjects[i], subjects.size()) ? 1 : 0;
    }
    active = world_.broadcast(std::move(active));
  }
}

/// Visits the active subjects in random order, again and again until the epoch has lasted long enough.
void Bench::measure_epoch(std::vector<Subject>& subjects, const std::vector<std::uint8_t>& active) {
  const Seconds began = now();
  std::vector<std::size_t> order(subjects.size());
  std::iota(order.begin(), order.end(), 0);
  do {
    shuffle(order, random_);
    for (const std::size_t index : order) {
      if (active[index] != 0) visit(subjects[index]);
    }
  } while (world_.broadcast(std::int64_t{now() - began < least_epoch()}) != 0);
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    if (active[i] != 0) finish_epoch(subjects[i]);
  }
}

Seconds Bench::least_epoch() const { return options_.time_budget * kLeastEpoch; }

/// Decides how many operations a visit to the subject has; every rank finds the same.
void Bench::plan(Subject& subject) {
  VisitPlan& plan = subject.plan;
  heartbeat_.enter_case(describe(subject.which));
  plan.warmup = options_.warmup;
  if (options_.iterations) {
    const bool batch = options_.timing == Timing::kPipelined;
    plan.samples = batch ? 1 : *options_.iterations;
    plan.iterations = batch ? *options_.iterations : 1;
    return;
  }
  const Seconds began = now();
  const Seconds each = meter_.estimate(subject.operation, options_.warmup) + meter_.start_cost();
  subject.spent += now() - began;
  const Seconds share = options_.time_budget * kFirstShare / static_cast<double>(options_.epochs);
  const auto fitting = static_cast<std::int64_t>(std::min(share / std::max(each, 1e-9), 1e9));
  const bool chosen = std::find(options_.given.begin(), options_.given.end(), "warmup_iters") != options_.given.end();
  if (!chosen) plan.warmup = std::min(plan.warmup, std::max<std::int64_t>(fitting, 1));
  if (options_.timing == Timing::kIsolated) {
    plan.samples = std::clamp<std::int64_t>(fitting - plan.warmup, 1, kMostSamplesPerVisit);
  } else {
    const std::int64_t iterations = std::clamp<std::int64_t>(fitting - plan.warmup, 1, kMostIterationsPerVisit);
    plan.samples = std::min(iterations, kBatchesPerVisit);
    plan.iterations = iterations / plan.samples;
  }
}

void Bench::visit(Subject& subject) {
  const Seconds began = now();
  heartbeat_.enter_case(describe(subject.which));
  Epoch epoch = meter_.measure(subject.operation, subject.plan);
  subject.plan.common_start = epoch.common_start;
  if (options_.checks > 0) {
    heartbeat_.enter(Phase::kCheck);
    const std::int64_t starts = subject.plan.starts(options_.aggregated);
    if (subject.operation.last_result_is_defined(starts)) check_result(subject, starts);
    if (!subject.visited) check_extra(subject);
  }
  subject.visited = true;
  subject.current.add(epoch);
  subject.spent += now() - began;
}

void Bench::finish_epoch(Subject& subject) {
  heartbeat_.enter(Phase::kReport);
  const std::int64_t number = subject.epochs_done++;
  if (!world_.is_root()) return;
  const Case& which = subject.which;
  const Epoch& epoch = subject.current;
  subject.medians.push_back(median(epoch.samples));
  const EpochRecord record{
      which.size,     which.datatype, which.reduction,        which.root,
      which.in_place, number,         subject.medians.back(), static_cast<std::int64_t>(epoch.samples.size()),
      epoch.late};
  for (const auto& sink : sinks_) sink->epoch(record);
  subject.epochs.push_back(std::exchange(subject.current, Epoch()));
}

void Bench::check_result(Subject& subject, std::int64_t starts) {
  const auto wrong = subject.operation.check(starts);
  if (!wrong) return;
  if (subject.first_wrong.empty()) {
    subject.first_wrong =
        fmt::format("first at element {}: expected {}, got {}", wrong->first_offset, wrong->expected, wrong->got);
  }
  subject.wrong = std::max(subject.wrong, wrong->count);
}

/// -c N: N operations by themselves, on fresh data, each checked.
void Bench::check_extra(Subject& subject) {
  for (std::int64_t round = 0; round < options_.checks; ++round) {
    subject.operation.prepare(1);
    subject.operation.start();
    subject.operation.wait();
    heartbeat_.tick();
    check_result(subject, 1);
  }
}

bool Bench::wants_more(const Subject& subject, std::size_t subjects) const {
  // Few subjects have to fill long epochs, and may spend more than their budget on that: as many epochs again.
  const Seconds filling = 2 * least_epoch() * static_cast<double>(options_.epochs) / static_cast<double>(subjects);
  if (subject.spent >= std::max(options_.time_budget, filling)) return false;
  const auto interval = median_interval(subject.medians);
  return !interval || interval->half_width(median(subject.medians)) * 100 > options_.target_precision_percent;
}

void Bench::report_rows(std::vector<Subject>& subjects) {
  heartbeat_.enter(Phase::kReport);
  for (std::size_t i = 0; i < subjects.size();) {
    const Case& first = subjects[i].which;
    Row row{first.size, first.layout.count, first.datatype, first.reduction, first.root, {}, {}, 0};
    for (; i < subjects.size() && subjects[i].which.size == row.size; ++i) {
      (subjects[i].which.in_place ? row.in_place : row.out_of_place) = conclude(subjects[i]);
    }
    row.finished = std::time(nullptr);
    if (!world_.is_root()) continue;
    for (const auto& sink : sinks_) sink->row(row);
  }
}

/// What was measured of a subject; collective, and filled in on rank 0.
Measurement Bench::conclude(Subject& subject) {
  Measurement measured;
  const auto wrong = static_cast<std::uint64_t>(world_.sum(static_cast<std::int64_t>(subject.wrong)));
  if (options_.checks > 0) measured.wrong = wrong;
  if (wrong > 0) note_wrong(subject, wrong);
  if (!world_.is_root()) return measured;
  measured.summary = summarize(subject.epochs);
  const Seconds time = measured.summary.median;
  measured.cpu_time = options_.timing == Timing::kPipelined ? median_cpu_time(subject.epochs) : time;
  measured.algbw = algorithm_bandwidth(subject.which.size, time);
  measured.busbw = measured.algbw * collective_.bus_factor(world_.size());
  measured.operations_per_sample = subject.plan.iterations * options_.aggregated;
  measured.iterations = measured.summary.samples * subject.plan.iterations;
  if (options_.samples) measured.samples = all_samples(subject.epochs);
  add_to_totals(subject, measured);
  subject.epochs.clear();
  return measured;
}

/// Names the first rank that found wrong data; collective.
void Bench::note_wrong(const Subject& subject, std::uint64_t wrong) {
  const std::int64_t wrong_ranks = world_.sum(std::int64_t{subject.wrong > 0});
  const std::vector<std::string> finds = world_.gather(subject.first_wrong);
  if (!world_.is_root()) return;
  totals_.wrong_checks += static_cast<std::uint64_t>(wrong_ranks);
  const auto first = std::find_if(finds.begin(), finds.end(), [](const std::string& find) { return !find.empty(); });
  const std::string note =
      fmt::format("wrong data in {} {}: {} elements over {} ranks; rank {}: {}", collective_.name(),
                  describe(subject.which), wrong, wrong_ranks, first - finds.begin(), *first);
  fmt::print(stderr, "fabricbench: {}\n", note);
  if (totals_.notes.size() < kMostNotes) totals_.notes.push_back(note);
}

void Bench::add_to_totals(const Subject& subject, const Measurement& measured) {
  const Summary& summary = measured.summary;
  totals_.busbws.push_back(measured.busbw);
  totals_.late += summary.late;
  totals_.started_by_barrier += summary.common_start ? 0 : 1;
  totals_.fewest_epochs = totals_.measurements == 0 ? summary.epochs : std::min(totals_.fewest_epochs, summary.epochs);
  totals_.most_epochs = std::max(totals_.most_epochs, summary.epochs);
  ++totals_.measurements;
  if (!summary.interval) return;
  ++totals_.with_interval;
  const double half_width = summary.interval->half_width(summary.median);
  if (half_width * 100 <= options_.target_precision_percent) ++totals_.precise;
  if (totals_.widest_case.empty() || half_width > totals_.widest + 1e-9) {  // not by rounding alone
    totals_.widest = half_width;
    totals_.widest_case = describe(subject.which);
  }
}

void Bench::show_progress(const std::vector<Subject>& subjects, std::int64_t epochs_planned, Seconds began) {
  if (!progress_.shown()) return;
  std::int64_t done = 0;
  std::int64_t planned = 0;
  for (const Subject& subject : subjects) {
    done += subject.epochs_done;
    const bool more = subject.epochs_done < options_.epochs || wants_more(subject, subjects.size());
    planned += more ? epochs_planned : subject.epochs_done;
  }
  const Seconds left = (now() - began) / static_cast<double>(done) * static_cast<double>(planned - done);
  progress_.show(done, planned, left);
}

std::string precision_line(const Totals& totals, const Options& options) {
  if (options.iterations) return "Precision: unknown with -n; leave it out to get intervals";
  if (totals.with_interval == 0) return "Precision: unknown, since an interval takes at least 6 epochs";
  return fmt::format(
      "Precision: 95 % interval within +-{:g} % for {} of {} measurements; widest +-{:.1f} % ({}); {} to {} epochs",
      options.target_precision_percent, totals.precise, totals.measurements, totals.widest * 100, totals.widest_case,
      totals.fewest_epochs, totals.most_epochs);
}

}  // namespace fabricbench
