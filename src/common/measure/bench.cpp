#include "common/measure/bench.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "common/core/clock.h"
#include "common/core/random.h"
#include "common/core/statistics.h"
#include "common/measure/bench_progress.h"
#include "common/measure/meter.h"
#include "common/measure/planning.h"
#include "common/measure/results.h"
#include "common/record/packing.h"

namespace fabricbench {
namespace {

constexpr std::int64_t kEpochsAdded = 3;

/// Whether `next` belongs to the row that `first` begins. Sizes cannot decide this: two sizes may round to the same one
/// in some groups only, and all groups must have the same number of rows.
bool in_one_row(const MeasuredCase& first, const MeasuredCase& next) {
  return !first.which().in_place && next.which().in_place;
}

template <typename Count>
void add_increase(std::optional<Count>& total, const std::optional<Count>& before, const std::optional<Count>& after) {
  if (before && after) total = total.value_or(0) + *after - *before;
}

/// Adds what a session counted between two readings of its counters.
void add_increase(TransportCounters& total, const TransportCounters& before, const TransportCounters& after) {
  add_increase(total.retransmitted_segments, before.retransmitted_segments, after.retransmitted_segments);
  add_increase(total.lost_messages, before.lost_messages, after.lost_messages);
  add_increase(total.background_bytes, before.background_bytes, after.background_bytes);
  add_increase(total.background_time, before.background_time, after.background_time);
  std::vector<std::uint64_t>& messages = total.messages_by_queue_pair;
  messages.resize(after.messages_by_queue_pair.size());
  for (std::size_t i = 0; i < messages.size(); ++i) {
    messages[i] += after.messages_by_queue_pair[i] - before.messages_by_queue_pair.at(i);
  }
}

/// The loop over cases and epochs: what each visit does, and what follows it.
class Bench {
 public:
  Bench(Run& run, Totals* totals)
      : run_(run),
        options_(run.options),
        totals_(totals),
        meter_(run.team, run.session, run.clock, run.options, run.heartbeat),
        planner_(run.options, run.test, run.session.device_clock() != nullptr ? 0 : meter_.lap_cost()),
        progress_(run, planner_),
        random_(run.context.seed) {}
  void measure() {
    std::size_t cases = 0;
    for (const CaseList& list : run_.cases) cases += list.cases.size();
    progress_.announce(static_cast<std::int64_t>(cases) * std::max<std::int64_t>(options_.cycles, 1));
    for (std::int64_t cycle = 0; options_.cycles == 0 || cycle < options_.cycles; ++cycle) {
      for (const CaseList& list : run_.cases) measure_list(list);
    }
    for (const host::Processor& processor : meter_.processors()) run_.processors.note(processor);
  }

 private:
  void measure_list(const CaseList& list) {
    for (const Row& row : list.skipped) run_.outputs.record(row);
    run_.workspace.use(list.cases.front().datatype, list.cases.front().reduction);
    std::vector<MeasuredCase> measured_cases;
    measured_cases.reserve(list.cases.size());
    for (const Case& which : list.cases) {
      measured_cases.push_back({Operation(run_.test, run_.session, run_.workspace, which, options_.buffers,
                                          options_.aggregated, options_.check_all)});
    }
    if (options_.iterations || options_.order == Order::kSequential) return measure_in_order(measured_cases);
    measure_interleaved(measured_cases, 0);
    progress_.clear();
    report_rows(measured_cases);
  }
  /// Measures one size after the other, and reports each row at once.
  void measure_in_order(std::span<MeasuredCase> measured_cases) {
    for (std::size_t first = 0; first < measured_cases.size();) {
      std::size_t end = first + 1;
      while (end < measured_cases.size() && in_one_row(measured_cases[first], measured_cases[end])) ++end;
      const std::span<MeasuredCase> row = measured_cases.subspan(first, end - first);
      const std::span<MeasuredCase> rest = measured_cases.subspan(end);
      const Seconds began = now();
      if (options_.iterations) {
        measure_exactly(row, rest, fmt::format("measurement {} of {}", first + 1, measured_cases.size()));
      } else {
        measure_interleaved(row, rest.size());
      }
      progress_.clear();
      report_rows(row);
      if (options_.iterations) {
        progress_.announce_rest(rest, row.front().which(), (now() - began) / static_cast<double>(row.size()));
      }
      first = end;
    }
  }
  /// Measures what -n asks for. `rest`: what is measured later.
  void measure_exactly(std::span<MeasuredCase> row, std::span<const MeasuredCase> rest, const std::string& place) {
    double later = times_as_long(rest, row.front().which()) + static_cast<double>(row.size());
    for (MeasuredCase& measured_case : row) {
      const std::string what = fmt::format("{}; now {}", place, case_text(run_, measured_case.which()));
      progress_.show(what);
      plan(measured_case);
      {
        const std::jthread telling =
            progress_.follow(what, measured_case.plan.warmup + *options_.iterations, later -= 1);
        visit_exactly(measured_case);
      }
      finish_epoch(measured_case);
    }
  }
  /// Measures epochs until every case is precise enough or has used up its time. Each epoch visits all cases in a
  /// new random order. `later`: the number of cases that are measured after these.
  void measure_interleaved(std::span<MeasuredCase> measured_cases, std::size_t later) {
    for (std::size_t i = 0; i < measured_cases.size(); ++i) {
      progress_.show(fmt::format("estimating {} of {}: {}", i + 1, measured_cases.size(),
                                 case_text(run_, measured_cases[i].which())));
      plan(measured_cases[i]);
      keep_estimate(measured_cases[i]);
      progress_.announce_long_operations(measured_cases, i);
    }
    BenchProgress::Epochs epochs{.began = now(), .planned = options_.epochs, .later = later};
    std::vector<std::uint8_t> active(measured_cases.size(), 1);
    for (std::int64_t done = 0; std::count(active.begin(), active.end(), 1) > 0; epochs.planned += kEpochsAdded) {
      for (; done < epochs.planned; ++done) measure_epoch(measured_cases, active, epochs);
      for (std::size_t i = 0; i < measured_cases.size(); ++i) {
        active[i] =
            run_.team.group().is_root() && measured_cases[i].wants_more(planner_, measured_cases.size()) ? 1 : 0;
      }
      active = run_.world().max(std::move(active));
    }
  }
  /// Visits the active cases in random order, repeatedly until the epoch has lasted long enough.
  void measure_epoch(std::span<MeasuredCase> measured_cases, const std::vector<std::uint8_t>& active,
                     const BenchProgress::Epochs& epochs) {
    const Seconds began = now();
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < measured_cases.size(); ++i) {
      if (active[i] != 0 && !measured_cases[i].has_all_epochs()) order.push_back(i);
    }
    if (order.empty()) return;
    Seconds all = 0;
    for (const std::size_t index : order) all += planner_.visit_time(measured_cases[index].operation_time);
    Seconds visited = 0;
    const Seconds least = planner_.least_epoch();
    do {
      shuffle(order, random_);
      for (const std::size_t index : order) {
        const double done = std::min(visited / all, (now() - began) / least);
        progress_.show_epoch(epochs, measured_cases, measured_cases[index], std::min(done, 1.0));
        visit(measured_cases[index]);
        visited += planner_.visit_time(measured_cases[index].operation_time);
      }
    } while (run_.world().broadcast(std::int64_t{now() - began < least}) != 0);
    std::sort(order.begin(), order.end());
    for (const std::size_t index : order) finish_epoch(measured_cases[index]);
    if (options_.timing == Timing::kIsolated) shorten_long_visits(measured_cases, order);
  }
  /// On a busy host, where processes wait for a processor at each common start, samples take longer than the estimate
  /// said.
  void shorten_long_visits(std::span<MeasuredCase> measured_cases, const std::vector<std::size_t>& visited) {
    constexpr double kTolerated = 4;  // times a case's share of an epoch
    std::vector<double> shares;
    shares.reserve(visited.size());
    for (const std::size_t index : visited)
      shares.push_back(measured_cases[index].measuring / planner_.share_of_epoch());
    shares = run_.world().all_reduce(std::move(shares), MPI_MAX);
    for (std::size_t i = 0; i < visited.size(); ++i) {
      if (shares[i] <= kTolerated) continue;
      VisitPlan& plan = measured_cases[visited[i]].plan;
      plan.samples =
          std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(plan.samples) / shares[i]));
    }
  }
  /// Decides the number of operations in a visit; the same on every rank.
  void plan(MeasuredCase& measured_case) {
    run_.heartbeat.enter_case(case_text(run_, measured_case.which()));
    measured_case.plan = planner_.first_plan(measured_case.operation.aggregated());
    fit_into_places(measured_case);
    connect(measured_case);
    if (options_.iterations) {
      // Libraries connect ranks in their first operation. nccl-tests has one more, with or without warm-up.
      if (measured_case.plan.warmup > 0 && options_.like != ReferenceTool::kNcclTests) return;
      meter_.run_untimed(measured_case.operation);
      return check_if_all(measured_case, measured_case.operation.aggregated());
    }
    const Seconds began = now();
    measured_case.operation_time = estimate(measured_case);
    measured_case.spent += now() - began;
    measured_case.plan = planner_.timed_plan(measured_case.plan, measured_case.operation_time);
    const std::int64_t epochs = planner_.epochs(measured_case.operation_time);
    if (epochs < options_.epochs) measured_case.most_epochs = epochs;
    fit_into_places(measured_case);
  }
  void fit_into_places(MeasuredCase& measured_case) const {
    Operation& operation = measured_case.operation;
    const std::optional<std::int64_t> places = operation.places();
    if (places) operation.aggregate(fabricbench::fit_into_places(*places, operation.aggregated(), measured_case.plan));
  }
  /// NCCL connects ranks in their first operation, each to each for an all-to-all: 10 minutes for 240 GPUs have been
  /// seen (nccl-tests issue 78), and are nobody's fault. Fewer ranks have time enough.
  void connect(MeasuredCase& measured_case) {
    constexpr int kMany = 64;
    constexpr Seconds kForEachRank = 3;
    const int ranks = run_.world().size() * run_.session.local_ranks();
    if (std::exchange(has_connected_, true) || run_.session.nccl_version() == 0 || ranks < kMany) return;
    const bool tells = run_.world().is_root();
    const Seconds began = now();
    if (tells) fmt::print(stderr, "fabricbench: NCCL connects {} ranks in their first operation\n", ranks);
    meter_.run_untimed(measured_case.operation, Phase::kConnect, ranks * kForEachRank);
    if (tells) fmt::print(stderr, "fabricbench: that took {}\n", readable_duration(now() - began));
  }
  /// The time of an operation, or of the window that is chosen.
  Seconds estimate(MeasuredCase& measured_case) {
    Operation& operation = measured_case.operation;
    const auto take = [&] {
      return meter_.estimate(operation, options_.warmup,
                             [&](std::int64_t starts) { check_if_all(measured_case, starts); });
    };
    if (!operation.is_windowed()) return take();
    const auto [messages, time] =
        planner_.fit_window(operation.aggregated(), measured_case.which().size, [&](std::int64_t tried) {
          operation.aggregate(tried);
          return take();
        });
    operation.aggregate(messages);
    return time;
  }
  /// What a run that ends before the first epoch can still state.
  void keep_estimate(const MeasuredCase& measured_case) {
    const Seconds time = measured_case.operation_time / measured_case.operation.operations_per_iteration();
    const std::string own =
        run_.team.group().is_root() ? record::pack(record_of(run_, measured_case.which(), time)) : "";
    for (const std::string& packed : run_.team.from_each_group(own)) {
      run_.outputs.keep(record::unpack<EpochRecord>(packed));
    }
  }
  /// Measures what -n asks for in one visit. With --check all it may take several of about the same size.
  void visit_exactly(MeasuredCase& measured_case) {
    if (!measured_case.operation.places()) return visit(measured_case);
    const bool is_stream = planner_.is_stream();
    std::int64_t iterations = *options_.iterations;
    const std::int64_t at_once = is_stream ? measured_case.operation.aggregated() : measured_case.plan.samples;
    for (std::int64_t visits = (iterations + at_once - 1) / at_once; visits > 0; --visits) {
      const std::int64_t share = (iterations + visits - 1) / visits;
      if (is_stream) {
        measured_case.operation.aggregate(share);
      } else {
        measured_case.plan.samples = share;
      }
      visit(measured_case);
      iterations -= share;
    }
  }
  void visit(MeasuredCase& measured_case) {
    const Seconds began = now();
    run_.heartbeat.enter_case(case_text(run_, measured_case.which()));
    if (!measured_case.visited) observe(measured_case);
    run_.nics.begin();
    lost_before_ = lost_so_far();
    const Seconds began_measuring = now();
    const Epoch epoch = meter_.measure(measured_case.operation, measured_case.plan,
                                       options_.check_each ? checks_of(measured_case) : AroundEach());
    measured_case.measuring = now() - began_measuring;
    add_increase(measured_case.counted, meter_.counted_before(), run_.session.counters());
    const std::int64_t starts = measured_case.plan.starts(measured_case.operation.aggregated());
    measured_case.timed += measured_case.plan.timed(measured_case.operation.aggregated());
    run_.nics.end(measured_case.nics, measured_case.which().size * static_cast<Bytes>(starts) / 2);
    measured_case.plan.common_start = epoch.common_start;
    if (options_.checks > 0 && !options_.check_each) check(measured_case, starts);
    if (!measured_case.visited && is_repeated(run_, measured_case.which()))
      measured_case.unrepeated = measured_case.operation.repeat();
    measured_case.visited = true;
    append_by_rank(epoch.own_times, measured_case.own_times);
    append_by_rank(epoch.own_means, measured_case.own_means);
    measured_case.idle.elapsed += epoch.idle.elapsed;
    measured_case.idle.stopped += epoch.idle.stopped;
    measured_case.idle.waiting += epoch.idle.waiting;
    measured_case.has_directions = epoch.has_directions;
    if (run_.team.group().is_root()) measured_case.current.add(epoch);
    measured_case.spent += now() - began;
  }
  /// Runs one operation during which the library reports its choice of algorithm. Timed operations are not observed.
  void observe(MeasuredCase& measured_case) {
    if (!options_.output.stats && !options_.keeps_records()) return;
    ChoiceObserver* const choices = run_.session.choices();
    if (choices != nullptr) choices->observe(true);
    check_if_all(measured_case, measured_case.operation.run_once());
    if (choices == nullptr) return;
    choices->observe(false);
    measured_case.choice = choices->last();
  }
  void finish_epoch(MeasuredCase& measured_case) {
    run_.heartbeat.enter(Phase::kReport);
    const std::int64_t number = measured_case.epochs_done++;
    if (const IdleTime idle = std::exchange(measured_case.idle, IdleTime()); idle.elapsed > 0) {
      measured_case.stopped_shares.push_back(std::clamp(idle.stopped / idle.elapsed, 0.0, 1.0));
      measured_case.waiting_shares.push_back(std::clamp(idle.waiting / idle.elapsed, 0.0, 1.0));
    }
    std::string own;
    if (run_.team.group().is_root()) {
      const Epoch& epoch = measured_case.epochs.emplace_back(std::exchange(measured_case.current, Epoch()));
      measured_case.medians.push_back(median(epoch.samples));
      EpochRecord finished = record_of(run_, measured_case.which(), measured_case.medians.back());
      finished.epoch = number;
      finished.samples = static_cast<std::int64_t>(epoch.samples.size());
      finished.late = epoch.late;
      own = record::pack(finished);
    }
    for (const std::string& packed : run_.team.from_each_group(own)) {
      run_.outputs.record(record::unpack<EpochRecord>(packed));
    }
  }
  /// Passes the rows of all groups, in the order of the groups, to the outputs of the job's first process.
  void report_rows(std::span<MeasuredCase> measured_cases) {
    run_.heartbeat.enter(Phase::kReport);
    std::vector<Row> rows;
    for (std::size_t i = 0; i < measured_cases.size();) {
      const MeasuredCase& leading = measured_cases[i];
      const Case& first = leading.which();
      Row row;
      row.size = first.size;
      row.count = first.layout.count;
      row.datatype = first.datatype;
      row.reduction = first.reduction;
      row.root = first.root;
      row.group = run_.team.reported_number();
      do {
        (measured_cases[i].which().in_place ? row.in_place : row.out_of_place) = conclude(run_, measured_cases[i]);
      } while (++i < measured_cases.size() && in_one_row(leading, measured_cases[i]));
      row.finished = std::time(nullptr);
      if (options_.traffic.summary) row.traffic = leading.operation.traffic();
      rows.push_back(std::move(row));
    }
    const std::string own = run_.team.group().is_root() ? record::pack(rows) : "";
    for (const std::string& packed : run_.team.from_each_group(own)) {
      for (const Row& row : record::unpack<std::vector<Row>>(packed)) {
        run_.outputs.record(row);
        if (totals_ != nullptr) totals_->add(row, run_.test.traits().name, run_.test.traits().row_kind);
      }
    }
  }
  /// Checks what a visit of `starts` operations has left, and as many more operations as are asked for.
  void check(MeasuredCase& measured_case, std::int64_t starts) {
    run_.heartbeat.enter(Phase::kCheck);
    const std::int64_t again = measured_case.plan.launches > 0 ? 1 : 0;  // a recorded batch has run once more, untimed
    const bool defined = measured_case.operation.last_result_is_defined(starts + again);
    if (defined) check_result(measured_case, starts);
    if (measured_case.plan.launches > 0) check_replay(measured_case);
    if (options_.check_all) return;
    const bool saves_time = options_.quick && defined && measured_case.operation_time > options_.time_budget;
    check_alone(measured_case, measured_case.visited || saves_time ? (defined ? 0 : 1) : options_.checks);
  }
  [[nodiscard]] std::uint64_t lost_so_far() const { return run_.session.counters().lost_messages.value_or(0); }
  /// Where all messages were lost there is nothing to check.
  void check_result(MeasuredCase& measured_case, std::int64_t starts) {
    const auto wrong = measured_case.operation.check(starts);
    measured_case.checked += measured_case.operation.take_checked();
    ++measured_case.checked_operations;
    if (wrong) ++measured_case.wrong_operations;
    const std::uint64_t lost = lost_so_far() - lost_before_;
    if (lost > 0 && std::cmp_greater_equal(lost, starts) && !options_.check_all) return;
    if (wrong && measured_case.wrong && (options_.check_all || options_.check_each)) {
      measured_case.wrong->add(*wrong);
    } else if (wrong && (!measured_case.wrong || wrong->elements > measured_case.wrong->elements)) {
      measured_case.wrong = wrong;
    }
  }
  /// Of messages that are not timed: with --check all every one is checked.
  void check_if_all(MeasuredCase& measured_case, std::int64_t starts) {
    if (options_.check_all) check_result(measured_case, starts);
  }
  /// Launches the recorded batch once more on poison, and checks its last result. The timed launches alone would not
  /// show a batch that writes nothing: the warm-up has left good results.
  void check_replay(MeasuredCase& measured_case) {
    const std::int64_t aggregated = measured_case.operation.aggregated();
    if (!measured_case.operation.last_result_is_defined(measured_case.plan.iterations * aggregated)) return;
    meter_.replay(measured_case.operation, measured_case.plan);
    check_result(measured_case, measured_case.plan.starts(aggregated));
  }
  /// Runs this many operations one at a time, and checks each: recorded ones where the timed ones are.
  void check_alone(MeasuredCase& measured_case, std::int64_t operations) {
    for (std::int64_t i = 0; i < operations; ++i) {
      std::int64_t starts = 1;
      lost_before_ = lost_so_far();
      if (measured_case.plan.launches > 0) {
        meter_.run_recorded(measured_case.operation);
      } else {
        starts = measured_case.operation.run_once();
      }
      run_.heartbeat.tick();
      check_result(measured_case, starts);
    }
  }
  /// With --check all of a collective: each operation gets fresh buffers, and its result is checked.
  AroundEach checks_of(MeasuredCase& measured_case) {
    const auto timed = [&measured_case](const auto& act) {
      return [&measured_case, act] {
        const Seconds began = now();
        act();
        measured_case.checking += now() - began;
      };
    };
    return {timed([&measured_case] { measured_case.operation.prepare(1); }),
            timed([this, &measured_case] { check_result(measured_case, 1); })};
  }

  Run& run_;
  const Options& options_;
  Totals* totals_;
  Meter meter_;
  Planner planner_;
  BenchProgress progress_;
  std::mt19937_64 random_;
  bool has_connected_ = false;
  std::uint64_t lost_before_ = 0;  // messages that this process lost before what is checked next
};

}  // namespace

void measure_rows(Run& run, Totals* totals) { Bench(run, totals).measure(); }

}  // namespace fabricbench
