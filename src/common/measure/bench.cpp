#include "common/measure/bench.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "common/core/bandwidth.h"
#include "common/core/clock.h"
#include "common/core/random.h"
#include "common/core/statistics.h"
#include "common/measure/bench_subject.h"
#include "common/measure/visit_progress.h"
#include "common/record/packing.h"

namespace fabricbench {
namespace {

constexpr std::int64_t kBatchesPerVisit = 5;
constexpr std::int64_t kMostIterationsPerVisit = 5000;
constexpr std::int64_t kMostSamplesPerVisit = 1000;
constexpr double kMostClockShare = 0.01;  // of a sample; shorter operations are timed in batches
constexpr std::int64_t kEpochsAdded = 3;
constexpr Seconds kLeastWindow = 10e-3;  // of a stream
constexpr double kMostEnlarged = 4096;
constexpr double kMostOfBudget = 0.125;  // of the time budget: a stream's longest window, if not of few messages
constexpr double kFewMessages = 4;
constexpr Bytes kLargeMessage = 1 << 20;
constexpr double kWorthwhile = 1.5;        // by which a window grows at least when it is tried again
constexpr std::int64_t kFewestEpochs = 6;  // which an interval takes
constexpr double kLeastEpoch = 0.3;        // of the time budget: the minimum duration of an epoch...
constexpr Seconds kLongEpoch = 0.3;        // ...or its part of the budget, if that is longer than this

/// Whether `next` belongs to the row that `first` begins. Sizes cannot decide this: two sizes may round to the same one
/// in some groups only, and all groups must have the same number of rows.
bool in_one_row(const Case& first, const Case& next) { return !first.in_place && next.in_place; }

}  // namespace

Bench::Bench(const Team& team, const Options& options, const Test& test, Session& session, Workspace& workspace,
             Meter& meter, NicMeter& nics, Heartbeat& heartbeat, std::uint64_t seed, Outputs& outputs, Totals* totals)
    : team_(team),
      options_(options),
      test_(test),
      session_(session),
      workspace_(workspace),
      meter_(meter),
      nics_(nics),
      heartbeat_(heartbeat),
      random_(seed),
      outputs_(outputs),
      progress_(progress_form(team.world().is_root(), options.progress)),
      totals_(totals) {}

void Bench::measure_cases(const std::vector<Case>& cases) {
  workspace_.use(cases.front().datatype, cases.front().reduction);
  std::vector<Subject> subjects;
  subjects.reserve(cases.size());
  for (const Case& which : cases) {
    subjects.push_back({which, Operation(test_, session_, workspace_, which, options_.buffers, options_.aggregated,
                                         options_.check_all)});
  }
  if (options_.iterations || options_.order == Order::kSequential) {
    measure_in_order(subjects);
  } else {
    measure_interleaved(subjects);
    progress_.clear();
    report_rows(subjects);
  }
}

std::string Bench::case_text(const Subject& subject) const { return describe(subject.which, test_.traits().row_kind); }

bool Bench::is_stream() const { return test_.windows() != nullptr && test_.windows()->are_stream(); }

void Bench::skip(const Row& row) { outputs_.record(row); }

/// Measures one size after the other, and reports each row at once.
void Bench::measure_in_order(std::vector<Subject>& subjects) {
  for (std::size_t first = 0; first < subjects.size();) {
    std::size_t end = first + 1;
    while (end < subjects.size() && in_one_row(subjects[first].which, subjects[end].which)) ++end;
    const Seconds began = now();
    const double after = times_as_long(std::span<const Subject>(subjects).subspan(end), subjects[first].which);
    std::vector<Subject> row(std::make_move_iterator(subjects.begin() + static_cast<std::ptrdiff_t>(first)),
                             std::make_move_iterator(subjects.begin() + static_cast<std::ptrdiff_t>(end)));
    if (options_.iterations) {
      double rest = after + static_cast<double>(row.size());
      for (Subject& subject : row) {
        rest -= 1;
        const std::string place = place_text(first, subjects.size(), subject);
        if (progress_.is_due()) progress_.show(place);
        plan(subject);
        visit_exactly(subject, *options_.iterations, place, rest);
        finish_epoch(subject);
      }
    } else {
      measured_later_ = subjects.size() - end;
      measure_interleaved(row);
    }
    progress_.clear();
    report_rows(row);
    if (options_.iterations) {
      const std::span<const Subject> rest(subjects.begin() + static_cast<std::ptrdiff_t>(end), subjects.end());
      announce_rest(rest, row.front().which, (now() - began) / static_cast<double>(row.size()));
    }
    first = end;
  }
}

/// Measures epochs until every subject is precise enough or has used up its time. Each epoch visits all subjects in a
/// new random order.
void Bench::measure_interleaved(std::vector<Subject>& subjects) {
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    show_planning(subjects[i], i, subjects.size());
    plan(subjects[i]);
    keep_estimate(subjects[i]);
    announce_long_operations(subjects, i);
  }
  began_ = now();
  std::int64_t done = 0;
  std::vector<std::uint8_t> active(subjects.size(), 1);
  for (std::int64_t epochs = options_.epochs; std::count(active.begin(), active.end(), 1) > 0; epochs += kEpochsAdded) {
    epochs_planned_ = epochs;
    for (; done < epochs; ++done) measure_epoch(subjects, active);
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      active[i] = team_.group().is_root() && wants_more(subjects[i], subjects.size()) ? 1 : 0;
    }
    active = team_.world().max(std::move(active));
  }
}

/// Visits the active subjects in random order, repeatedly until the epoch has lasted long enough.
void Bench::measure_epoch(std::vector<Subject>& subjects, const std::vector<std::uint8_t>& active) {
  const Seconds began = now();
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    if (active[i] != 0 && !subjects[i].has_all_epochs()) order.push_back(i);
  }
  if (order.empty()) return;
  Seconds all = 0;
  for (const std::size_t index : order) all += expected_visit(subjects[index].operation_time);
  Seconds visited = 0;
  do {
    shuffle(order, random_);
    for (const std::size_t index : order) {
      const double done = std::min(visited / all, (now() - began) / least_epoch());
      show_progress(subjects, subjects[index], std::min(done, 1.0));
      visit(subjects[index]);
      visited += expected_visit(subjects[index].operation_time);
    }
  } while (team_.world().broadcast(std::int64_t{now() - began < least_epoch()}) != 0);
  std::sort(order.begin(), order.end());
  for (const std::size_t index : order) finish_epoch(subjects[index]);
  if (options_.timing == Timing::kIsolated) shorten_long_visits(subjects, order);
}

/// On a busy host, where processes wait for a processor at each common start, samples take longer than the estimate
/// said.
void Bench::shorten_long_visits(std::vector<Subject>& subjects, const std::vector<std::size_t>& visited) {
  constexpr double kTolerated = 4;  // times a subject's share of an epoch
  std::vector<double> shares;
  shares.reserve(visited.size());
  for (const std::size_t index : visited) shares.push_back(subjects[index].measuring / share_of_epoch());
  shares = team_.world().all_reduce(std::move(shares), MPI_MAX);
  for (std::size_t i = 0; i < visited.size(); ++i) {
    if (shares[i] <= kTolerated) continue;
    VisitPlan& plan = subjects[visited[i]].plan;
    plan.samples = std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(plan.samples) / shares[i]));
  }
}

/// Long enough that epochs differ as runs do, also with a small budget, which is then exceeded.
Seconds Bench::least_epoch() const {
  const Seconds part = options_.time_budget / static_cast<double>(options_.epochs);
  return std::min(options_.time_budget * kLeastEpoch, std::max(part, kLongEpoch));
}

Seconds Bench::share_of_epoch() const {
  return options_.time_budget * kFirstShare / static_cast<double>(options_.epochs);
}

/// NCCL connects ranks in their first operation, each to each for an all-to-all: 10 minutes for 240 GPUs have been seen
/// (nccl-tests issue 78), and are nobody's fault. Fewer ranks have time enough.
void Bench::connect(Subject& subject) {
  constexpr int kMany = 64;
  constexpr Seconds kForEachRank = 3;
  const int ranks = team_.world().size() * session_.local_ranks();
  if (std::exchange(has_connected_, true) || session_.nccl_version() == 0 || ranks < kMany) return;
  const bool tells = team_.world().is_root();
  const Seconds began = now();
  if (tells) fmt::print(stderr, "fabricbench: NCCL connects {} ranks in their first operation\n", ranks);
  meter_.run_untimed(subject.operation, Phase::kConnect, ranks * kForEachRank);
  if (tells) fmt::print(stderr, "fabricbench: that took {}\n", readable_duration(now() - began));
}

/// Decides the number of operations in a visit; the same on every rank.
void Bench::plan(Subject& subject) {
  VisitPlan& plan = subject.plan;
  heartbeat_.enter_case(case_text(subject));
  plan.warmup = options_.warmup;
  plan.launches = options_.graph_launches;
  plan.gapless = test_.traits().row_kind != RowKind::kCollective;
  if (options_.iterations && is_stream() && options_.has_given({"warmup_iters"})) {  // messages, as those of -n
    const std::int64_t window = subject.operation.aggregated();
    plan.warmup = (plan.warmup + window - 1) / window;
  }
  fit_into_places(subject);
  connect(subject);
  // Libraries connect ranks in their first operation. nccl-tests has one more, with or without warm-up.
  const bool one_more = plan.warmup == 0 || options_.like == ReferenceTool::kNcclTests;
  if (options_.iterations && one_more) {
    meter_.run_untimed(subject.operation);
    check_if_all(subject, subject.operation.aggregated());
  }
  if (options_.iterations && is_stream()) return;  // the iterations of -n are one window
  if (options_.iterations) {
    const bool batch = options_.timing == Timing::kPipelined && !plan.gapless;
    plan.samples = batch ? 1 : *options_.iterations;
    plan.iterations = batch ? *options_.iterations : 1;
    return fit_into_places(subject);
  }
  const Seconds began = now();
  const Seconds each = test_.windows() != nullptr ? fit_window(subject) : estimate(subject);
  subject.spent += now() - began;
  subject.operation_time = each;
  const std::int64_t fitting = operations_that_fit(share_of_epoch(), each);
  plan.warmup = fitting_warmup(plan.warmup, fitting);
  if (const std::int64_t epochs = epochs_that_fit(each); epochs < options_.epochs) subject.most_epochs = epochs;
  if (plan.gapless) {
    const double sharing = meter_.lap_cost() / kMostClockShare / std::max(each, 1e-9);
    plan.iterations = session_.device_clock() != nullptr ? 1 : std::max<std::int64_t>(std::llround(sharing), 1);
    const std::int64_t samples = std::max<std::int64_t>(fitting - plan.warmup, 1) / plan.iterations;
    plan.samples = std::clamp<std::int64_t>(samples, 1, kMostSamplesPerVisit);
  } else if (options_.timing == Timing::kIsolated) {
    plan.samples = std::clamp<std::int64_t>(fitting - plan.warmup, 1, kMostSamplesPerVisit);
  } else {
    const std::int64_t timed = (fitting - plan.warmup) / std::max<std::int64_t>(plan.launches, 1);
    const std::int64_t iterations = std::clamp<std::int64_t>(timed, 1, kMostIterationsPerVisit);
    plan.samples = std::min(iterations, kBatchesPerVisit);
    plan.iterations = iterations / plan.samples;
  }
  fit_into_places(subject);
}

/// Of operations that take `each`.
std::int64_t Bench::operations_that_fit(Seconds time, Seconds each) {
  return static_cast<std::int64_t>(std::min(time / std::max(each, 1e-9), 1e9));
}

/// An operation that takes longer than its share has been warmed up by the estimate. A stream's window fits.
std::int64_t Bench::fitting_warmup(std::int64_t warmup, std::int64_t fitting) const {
  const std::int64_t least = is_stream() ? 1 : 0;
  return options_.has_given({"warmup_iters"}) ? warmup : std::min(warmup, std::max(fitting, least));
}

/// Of operations that take `each`, if fewer than usual; else the usual ones.
std::int64_t Bench::epochs_that_fit(Seconds each) const {
  if (options_.has_given({"epochs"}) || (is_stream() && !options_.quick)) return options_.epochs;
  const std::int64_t fewest = options_.quick ? 1 : std::min(options_.epochs, kFewestEpochs);
  return std::clamp(operations_that_fit(options_.time_budget, each), fewest, options_.epochs);
}

/// With --check all a visit starts no more operations than there are places for, which are checked after it.
void Bench::fit_into_places(Subject& subject) const {
  const std::optional<std::int64_t> places = subject.operation.places();
  if (!places) return;
  VisitPlan& plan = subject.plan;
  plan.warmup = std::min(plan.warmup, *places / 2);
  const std::int64_t window = std::min(subject.operation.aggregated(), *places / (plan.warmup + 1));
  subject.operation.aggregate(window);
  const std::int64_t timed = *places / window - plan.warmup;
  plan.iterations = std::min(plan.iterations, timed);
  plan.samples = std::min(plan.samples, timed / plan.iterations);
}

/// Measures what -n asks for in one visit. With --check all it may take several of about the same size.
void Bench::visit_exactly(Subject& subject, std::int64_t iterations, const std::string& place, double rest) {
  const VisitProgress telling(progress_, heartbeat_, place, subject.plan.warmup + iterations, rest);
  if (!subject.operation.places()) return visit(subject);
  const std::int64_t at_once = is_stream() ? subject.operation.aggregated() : subject.plan.samples;
  for (std::int64_t visits = (iterations + at_once - 1) / at_once; visits > 0; --visits) {
    const std::int64_t share = (iterations + visits - 1) / visits;
    if (is_stream()) {
      subject.operation.aggregate(share);
    } else {
      subject.plan.samples = share;
    }
    visit(subject);
    iterations -= share;
  }
}

Seconds Bench::estimate(Subject& subject) {
  return meter_.estimate(subject.operation, options_.warmup,
                         [&](std::int64_t starts) { check_if_all(subject, starts); });
}

/// The time that a window may take, if it has more than a few messages. One that is answered is as the user wants it
/// unless it takes the whole time.
Seconds Bench::longest_window() const {
  if (is_stream()) return std::max(options_.time_budget * kMostOfBudget, kLeastWindow);
  constexpr Seconds kAny = 1e9;
  if (options_.quick) return std::max(options_.time_budget / 4, kLeastWindow);
  return options_.has_given({"window"}) ? kAny : std::max(options_.time_budget, kLeastWindow);
}

/// Chooses a window, and returns its expected time. A stream runs dry at the end of a window, so a window must be long
/// enough to make that negligible. On a slow network it must not take the whole time budget, nor may finding that out:
/// a few messages are tried first, and of large ones a single one.
Seconds Bench::fit_window(Subject& subject) {
  Operation& operation = subject.operation;
  const auto usual = static_cast<double>(operation.aggregated());
  const Seconds longest = longest_window();
  double messages = std::min(usual, subject.which.size >= kLargeMessage ? 1.0 : kFewMessages);
  Seconds time = 0;
  for (bool tries = true; tries;) {
    operation.aggregate(static_cast<std::int64_t>(messages));
    time = std::max(estimate(subject), 1e-9);
    const double fitting = std::clamp(messages * longest / time, messages, usual);
    tries = fitting >= kWorthwhile * messages;
    if (tries) messages = fitting;
  }
  if (!is_stream()) return time;
  const double times = std::clamp(kLeastWindow / time, 1.0, kMostEnlarged);
  operation.aggregate(static_cast<std::int64_t>(messages * times));
  return time * static_cast<double>(operation.aggregated()) / messages;
}

void Bench::visit(Subject& subject) {
  const Seconds began = now();
  heartbeat_.enter_case(case_text(subject));
  if (!subject.visited) observe(subject);
  nics_.begin();
  lost_before_ = lost_so_far();
  const Seconds began_measuring = now();
  Epoch epoch =
      meter_.measure(subject.operation, subject.plan, options_.check_each ? checks_of(subject) : AroundEach());
  subject.measuring = now() - began_measuring;
  add_increase(subject.counted, meter_.counted_before(), session_.counters());
  const std::int64_t starts = subject.plan.starts(subject.operation.aggregated());
  subject.timed += subject.plan.timed(subject.operation.aggregated());
  nics_.end(subject.nics, subject.which.size * static_cast<Bytes>(starts) / 2);
  subject.plan.common_start = epoch.common_start;
  if (options_.checks > 0 && !options_.check_each) {
    heartbeat_.enter(Phase::kCheck);
    const std::int64_t again = subject.plan.launches > 0 ? 1 : 0;  // a recorded batch has run once more, untimed
    const bool defined = subject.operation.last_result_is_defined(starts + again);
    if (defined) check_result(subject, starts);
    if (subject.plan.launches > 0) check_replay(subject);
    const bool saves_time = options_.quick && defined && subject.operation_time > options_.time_budget;
    const std::int64_t alone = subject.visited || saves_time ? (defined ? 0 : 1) : options_.checks;
    if (!options_.check_all) check_alone(subject, alone);
  }
  if (!subject.visited && is_repeated(subject.which)) subject.unrepeated = subject.operation.repeat();
  subject.visited = true;
  append_by_rank(epoch.own_times, subject.own_times);
  append_by_rank(epoch.own_means, subject.own_means);
  subject.idle.elapsed += epoch.idle.elapsed;
  subject.idle.stopped += epoch.idle.stopped;
  subject.idle.waiting += epoch.idle.waiting;
  subject.has_directions = epoch.has_directions;
  if (team_.group().is_root()) subject.current.add(epoch);
  subject.spent += now() - began;
}

/// With --check all of a collective: each operation gets fresh buffers, and its result is checked.
AroundEach Bench::checks_of(Subject& subject) {
  const auto timed = [&subject](const auto& act) {
    return [&subject, act] {
      const Seconds began = now();
      act();
      subject.checking += now() - began;
    };
  };
  return {timed([&subject] { subject.operation.prepare(1); }), timed([this, &subject] { check_result(subject, 1); })};
}

/// Runs one operation during which the library reports its choice of algorithm. Timed operations are not observed.
void Bench::observe(Subject& subject) {
  if (!options_.stats && !options_.keeps_records()) return;
  ChoiceObserver* const choices = session_.choices();
  if (choices != nullptr) choices->observe(true);
  check_if_all(subject, subject.operation.run_once());
  if (choices == nullptr) return;
  choices->observe(false);
  subject.choice = choices->last();
}

/// What a case's time says, on a group's first process.
EpochRecord Bench::record_of(const Subject& subject, Seconds time) const {
  const Case& which = subject.which;
  const int ranks = workspace_.ranks().all;
  const double algbw = algorithm_bandwidth(static_cast<double>(which.size) * test_.counted_share(ranks), time);
  return {.size = which.size,
          .count = which.layout.count,
          .datatype = which.datatype,
          .reduction = which.reduction,
          .root = which.root,
          .group = team_.reported_number(),
          .in_place = which.in_place,
          .median = time,
          .algbw = algbw,
          .busbw = algbw * test_.bus_factor(ranks)};
}

/// What a run that ends before the first epoch can still state.
void Bench::keep_estimate(const Subject& subject) {
  const Seconds time = subject.operation_time / subject.operation.operations_per_iteration();
  const std::string own = team_.group().is_root() ? record::pack(record_of(subject, time)) : "";
  for (const std::string& packed : team_.from_each_group(own)) outputs_.keep(record::unpack<EpochRecord>(packed));
}

void Bench::finish_epoch(Subject& subject) {
  heartbeat_.enter(Phase::kReport);
  const std::int64_t number = subject.epochs_done++;
  if (const IdleTime idle = std::exchange(subject.idle, IdleTime()); idle.elapsed > 0) {
    subject.stopped_shares.push_back(std::clamp(idle.stopped / idle.elapsed, 0.0, 1.0));
    subject.waiting_shares.push_back(std::clamp(idle.waiting / idle.elapsed, 0.0, 1.0));
  }
  std::string packed_record;
  if (team_.group().is_root()) {
    const Epoch& epoch = subject.current;
    subject.medians.push_back(median(epoch.samples));
    EpochRecord finished = record_of(subject, subject.medians.back());
    finished.epoch = number;
    finished.samples = static_cast<std::int64_t>(epoch.samples.size());
    finished.late = epoch.late;
    packed_record = record::pack(finished);
    subject.epochs.push_back(std::exchange(subject.current, Epoch()));
  }
  for (const std::string& packed : team_.from_each_group(packed_record)) {
    outputs_.record(record::unpack<EpochRecord>(packed));
  }
}

/// Whether a case is run twice on the same input, to compare the bits.
bool Bench::is_repeated(const Case& which) const {
  return options_.repeatable && which.reduction != Reduction::kNone && which.size > 0;
}

bool Bench::wants_more(const Subject& subject, std::size_t subjects) const {
  if (subject.has_all_epochs()) return false;
  // With few subjects, each must fill a large part of a long epoch. For that it may exceed a small time budget, up to
  // the time of twice the minimum number of epochs.
  const Seconds epoch = std::min(least_epoch(), kLongEpoch);
  const Seconds filling = 2 * epoch * static_cast<double>(options_.epochs) / static_cast<double>(subjects);
  if (subject.spent >= std::max(options_.time_budget, filling)) return false;
  const auto interval = median_interval(subject.medians);
  if (!interval) return true;
  return widened(*interval, subject.epochs.back().resolution).half_width() * 100 > options_.target_precision_percent;
}

/// Passes the rows of all groups, in the order of the groups, to the outputs of the job's first process.
void Bench::report_rows(std::vector<Subject>& subjects) {
  heartbeat_.enter(Phase::kReport);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < subjects.size();) {
    const Subject& leading = subjects[i];
    const Case& first = leading.which;
    Row row;
    row.size = first.size;
    row.count = first.layout.count;
    row.datatype = first.datatype;
    row.reduction = first.reduction;
    row.root = first.root;
    row.group = team_.reported_number();
    do {
      (subjects[i].which.in_place ? row.in_place : row.out_of_place) = conclude(subjects[i]);
    } while (++i < subjects.size() && in_one_row(first, subjects[i].which));
    row.finished = std::time(nullptr);
    if (options_.traffic_summary) row.traffic = leading.operation.traffic();
    rows.push_back(std::move(row));
  }
  for (const std::string& packed : team_.from_each_group(team_.group().is_root() ? record::pack(rows) : "")) {
    for (const Row& row : record::unpack<std::vector<Row>>(packed)) {
      outputs_.record(row);
      if (totals_ != nullptr) totals_->add(row, test_.traits().name, test_.traits().row_kind);
    }
  }
}

std::uint64_t Bench::lost_so_far() const { return session_.counters().lost_messages.value_or(0); }

/// The finding of the group's lowest process that has one, on its first process.
std::string Bench::first_of_group(const std::string& finding) const {
  for (const std::string& found : team_.group().gather(finding)) {
    if (!found.empty()) return found;
  }
  return "";
}

int Bench::rank_in_job(int rank) const {
  return team_.process_in_job() * workspace_.ranks().local + rank - workspace_.ranks().first;
}

}  // namespace fabricbench
