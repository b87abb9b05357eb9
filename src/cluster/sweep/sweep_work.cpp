#include "cluster/sweep/sweep_work.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/sweep/flow.h"
#include "cluster/sweep/ledger.h"
#include "cluster/sweep/mail.h"
#include "cluster/sweep/steps.h"
#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/engine/prepared_run.h"
#include "common/measure/bench.h"
#include "common/programs/run_program.h"
#include "common/ranks/agreement.h"
#include "common/ranks/team.h"
#include "common/report/sweep_facts.h"
#include "common/watch/progress.h"

namespace fabricbench::sweep {
namespace {

constexpr Seconds kGrace = 5;         // for an endpoint's report, beyond the time limit of a pair
constexpr Seconds kOutcomeGrace = 1;  // for the receiver's message to the sender
constexpr int kFewReports = 16;       // received between two windows of the first endpoint's own
constexpr Seconds kForEver = std::numeric_limits<double>::infinity();

/// Such as `rank 3 on node-07`, by endpoint; the first process knows them.
std::vector<std::string> agreed_names(const Run& run) {
  std::vector<std::string> names;
  names.reserve(run.context.ranks.size());
  for (const RankFacts& rank : run.context.ranks) names.push_back(fmt::format("rank {} on {}", rank.rank, rank.host));
  return broadcast_from_first(run.world(), names);
}

/// The source of steps, for the first endpoint.
std::unique_ptr<StepSource> open_steps(const Run& run, const Measured& measured) {
  const Options& options = run.options;
  const int endpoints = run.world().size();
  if (run.world().rank() != 0) return nullptr;
  if (!options.sweep.find && measured.hosts.empty()) {
    return std::make_unique<ScheduledSteps>(options, endpoints, run.context.seed);
  }
  std::vector<NamedEndpoint> named;
  const std::vector<std::string> names = endpoint_names(run.context);
  for (std::size_t i = 0; i < names.size(); ++i) named.push_back({names[i], run.context.ranks[i].host});
  return std::make_unique<PlannedSteps>(options, named, run.context.seed, measured,
                                        [&run](const SweepRound& round) { run.outputs.record(round); });
}

Order order_of(const SweepStep& step, const Flows& flows) {
  return {step.number, step.round, flows.to, flows.from, step.pings()};
}

class SweepRun {
 public:
  SweepRun(Run& run, const Measured& measured)
      : run_(run),
        options_(run.options),
        self_(run.world().rank()),
        endpoints_(run.world().size()),
        names_(agreed_names(run)),
        facts_(sweep_facts(run.context)),
        communicator_(*run.world().split(0)),
        mailbox_(communicator_),
        case_(run.cases.front().cases.front()),
        steps_(open_steps(run, measured)),
        meter_(run.session, run.workspace, mailbox_, options_, case_, [this] { collect(kFewReports); }),
        ledger_(
            names_, case_.size,
            [this](PairReading reading) {
              progress_.clear();
              add_facts(reading, facts_);
              run_.outputs.record(reading);
              steps_->note(reading);
            },
            options_.min_bandwidth_gb_per_s * 1e9),
        own_(endpoints_),
        progress_(progress_form(is_first(), options_.output.progress)) {}

  Ending run() {
    host::NicTotal total;
    run_.nics.begin();
    if (is_first()) {
      lead();
    } else {
      follow();
    }
    finish();
    if (!run_.has_abandoned) run_.nics.end(total, carried_ / 2);
    return is_first() ? conclude() : Ending();
  }

 private:
  void lead() {
    const Seconds began = now();
    std::int64_t done = 0;
    while (true) {
      progress_.clear();
      const std::optional<SweepStep> step = steps_->next();
      if (!step) break;
      order(*step);
      const Seconds deadline = now() + options_.sweep.pair_timeout;
      carry_out(order_of(*step, sweep::flows_of(*step, self_)), deadline);
      collect_all(deadline, *step);
      ++done;
      if (!progress_.is_due()) continue;
      const Seconds left = (now() - began) / static_cast<double>(done) * static_cast<double>(steps_->left());
      progress_.show(
          fmt::format("{} of {} steps, about {} left", done, done + steps_->left(), readable_duration(left)));
    }
    progress_.clear();
    for (int endpoint = 1; endpoint < endpoints_; ++endpoint)
      mailbox_.post(endpoint, kGo, packed(Order{-1, 0, {}, {}, false}));
    verdict_ = steps_->verdict();
  }

  /// Waits for the first endpoint's orders and carries them out. If none comes, the watchdog ends the job.
  void follow() {
    while (true) {
      const auto order = unpacked<Order>(*mailbox_.wait(0, kGo, kForEver));
      if (order.step < 0) return;
      carry_out(order, now() + options_.sweep.pair_timeout);
    }
  }

  /// Sends every endpoint its orders for a step.
  void order(const SweepStep& step) {
    ledger_.begin(step);
    const std::vector<Flows> flows = flows_of_all(step, endpoints_);
    for (int endpoint = 1; endpoint < endpoints_; ++endpoint) {
      mailbox_.post(endpoint, kGo, packed(order_of(step, flows[static_cast<std::size_t>(endpoint)])));
    }
  }

  void carry_out(const Order& order, Seconds deadline) {
    run_.heartbeat.enter_case(fmt::format("round {} of the sweep", order.round));
    run_.heartbeat.enter(Phase::kMeasure);
    const Flows flows{order.to, order.from};
    StepResult result;
    if (flows.to || flows.from) result = meet(flows, order, deadline);
    run_.processors.note();
    if (order.pings) latency_ = result.latency;
    result.latency = latency_;
    if (order.pings && latency_) own_.note_latency(*latency_);
    const Report report = report_of(order.step, flows, result, case_.size, meter_.has_abandoned());
    if (is_first()) {
      ledger_.note(self_, report);
    } else {
      mailbox_.post(0, kReport, packed(report));
    }
    tell_outcome(flows, report, deadline);
  }

  /// Adds the round and the partner to errors of the library.
  [[nodiscard]] StepResult meet(const Flows& flows, const Order& order, Seconds deadline) {
    try {
      return meter_.measure(flows, order.pings, deadline);
    } catch (const Error& error) {
      const auto partner = static_cast<std::size_t>(flows.to.value_or(flows.from.value_or(0)));
      throw Error(error.status(), fmt::format("round {}, with {}: {}", order.round, names_[partner], error.what()));
    }
  }

  /// The ending from the readings; if they are complete, also from the verdict.
  [[nodiscard]] Ending conclude() const {
    Ending ending = ledger_.ending();
    if (steps_->taken_over() > 0) {
      ending.notes.push_back(fmt::format("{} readings of {} were taken over; the table does not count them",
                                         steps_->taken_over(), options_.sweep.measured_file));
    }
    if (!verdict_) return ending;
    run_.outputs.record(*verdict_);
    if (ending.exit_status != 0) return ending;
    ending.reason = verdict_->why_over;
    if (verdict_->judged == "slow") {
      ending.exit_status = static_cast<int>(ExitStatus::kTooSlow);
      const std::size_t more = verdict_->findings.size() - 1;
      ending.reason = verdict_->findings.front().text + (more > 0 ? fmt::format("; and {} more", more) : "");
    } else if (verdict_->judged == "unknown") {
      ending.exit_status = static_cast<int>(ExitStatus::kNotJudged);
      ending.reason = "too little was measured to say that nothing is slow: " + verdict_->why_over;
    }
    return ending;
  }

  /// The receiver knows the bandwidth, and tells the sender, which records it too.
  void tell_outcome(const Flows& flows, const Report& report, Seconds deadline) {
    const double bandwidth = report.status == ReadingStatus::kOk ? report.bandwidth : 0;
    if (flows.from) {
      own_.note_received(*flows.from, bandwidth);
      mailbox_.post(*flows.from, kOutcome, packed(StepOutcome{report.step, bandwidth}));
    }
    if (!flows.to) return;
    own_.note_sent(*flows.to, 0);
    const Seconds latest = std::max(deadline, now()) + kOutcomeGrace;
    while (const auto mail = mailbox_.wait(*flows.to, kOutcome, latest)) {
      const auto outcome = unpacked<StepOutcome>(*mail);
      if (outcome.step != report.step) continue;  // late, from an earlier step
      own_.note_sent(*flows.to, outcome.bandwidth);
      return;
    }
  }

  /// Receives at most `most` of the reports that have arrived.
  void collect(int most) {
    run_.heartbeat.tick();
    if (!is_first()) return;
    for (int i = 0; i < most; ++i) {
      const auto mail = mailbox_.look(mpi::Mailbox::kAnybody, kReport);
      if (!mail) return;
      ledger_.note(mail->from, unpacked<Report>(*mail));
    }
  }

  void collect_all(Seconds deadline, const SweepStep& step) {
    mpi::Backoff backoff;
    for (collect(endpoints_); !ledger_.is_complete(); collect(endpoints_)) {
      if (now() > deadline + kGrace) {
        const std::vector<int> missing = ledger_.missing_endpoints();
        run_.outputs.record(SilentEndpoints{step.round, missing, hosts_of(missing, facts_)});
        throw Error(ExitStatus::kTimeout,
                    fmt::format("no report of round {} within {} s from {}: the process, its host or its network has "
                                "died or hangs; earlier readings are in the output",
                                step.round, options_.sweep.pair_timeout + kGrace, ledger_.missing()));
      }
      backoff.rest();
    }
  }

  /// Tells all endpoints the ending, and collects their summaries on the first one.
  void finish() {
    SweepOutcome outcome{ledger_.has_abandoned(), ledger_.carried()};
    if (is_first()) {
      for (int endpoint = 1; endpoint < endpoints_; ++endpoint) mailbox_.post(endpoint, kGo, packed(outcome));
    } else {
      outcome = unpacked<SweepOutcome>(*mailbox_.wait(0, kGo, kForEver));
    }
    run_.has_abandoned = outcome.has_abandoned;
    carried_ = outcome.carried;
    report_endpoints();
    if (static_cast<std::size_t>(endpoints_) <= kMostDrawn || !options_.sweep.matrix_csv_file.empty()) report_matrix();
  }

  void report_endpoints() {
    const EndpointSummary own = own_.summary(self_);
    if (!is_first()) return mailbox_.post(0, kSummary, packed(own));
    for (int endpoint = 0; endpoint < endpoints_; ++endpoint) {
      EndpointSummary summary = endpoint == self_ ? own : unpacked<EndpointSummary>(mail_of(endpoint, kSummary));
      add_facts(summary, facts_);
      run_.outputs.record(summary);
    }
  }

  /// Requests one row after the other: all rows at once would need memory for the whole matrix.
  void report_matrix() {
    if (!is_first()) {
      static_cast<void>(mailbox_.wait(0, kGo, kForEver));
      return mailbox_.post(0, kMatrixRow, packed(own_.received()));
    }
    for (int endpoint = 0; endpoint < endpoints_; ++endpoint) {
      MatrixRow row{endpoint, own_.received()};
      if (endpoint != self_) {
        mailbox_.post(endpoint, kGo, packed(std::int64_t{0}));
        row.bandwidths = unpacked<std::vector<float>>(mail_of(endpoint, kMatrixRow));
      }
      run_.outputs.record(row);
    }
  }

  [[nodiscard]] bool is_first() const { return self_ == 0; }
  [[nodiscard]] mpi::Mailbox::Message mail_of(int endpoint, int subject) {
    auto mail = mailbox_.wait(endpoint, subject, now() + options_.sweep.pair_timeout + kGrace);
    if (mail) return std::move(*mail);
    throw Error(ExitStatus::kTimeout,
                fmt::format("{} has not sent its part of the result; the readings are in the output",
                            names_[static_cast<std::size_t>(endpoint)]));
  }

  Run& run_;
  const Options& options_;
  int self_;
  int endpoints_;
  std::vector<std::string> names_;  // by endpoint
  SweepFacts facts_;                // on the first endpoint only
  mpi::Communicator communicator_;
  mpi::Mailbox mailbox_;
  Case case_;
  std::unique_ptr<StepSource> steps_;  // on the first endpoint only
  std::optional<SweepVerdict> verdict_;
  FlowMeter meter_;
  Ledger ledger_;
  EndpointStatistics own_;
  Bytes carried_ = 0;               // by all windows of the sweep
  std::optional<Seconds> latency_;  // of the current meeting, from the step with pings
  Progress progress_;
};

/// Measures the pairs of a schedule round by round, or with --find and --measured the pairs that are planned from
/// earlier readings. Passes readings, endpoints and matrix to the outputs. The first endpoint leads: it starts each
/// step by mail, and receives every endpoint's report on it. There is no MPI collective until the end, so a pair whose
/// messages do not arrive does not stop the others. An endpoint that does not report in time ends the job: throws Error
/// (timeout) with its name. `measured` is used on the first endpoint only.
Ending measure_pairs(Run& run, const Measured& measured) { return SweepRun(run, measured).run(); }

void check(const ProcessLocation& location, EndpointLevel level, int processes, const Options& options) {
  if (options.nccl.gpus > 1) {
    throw UsageError(fmt::format("-g {}: a sweep has one GPU a process; leave it out, and start a process for each GPU",
                                 options.nccl.gpus));
  }
  if (processes < 2) {
    throw UsageError("a sweep pairs ranks, and there is one; start more, such as mpirun -np 2");
  }
  if (level == EndpointLevel::kHost && location.hosts < 2) {
    throw UsageError(
        fmt::format("--level host pairs hosts, and all {} ranks run on one; write --level rank", processes));
  }
}

/// The processes to pair: the first of each host, or all. kAuto means hosts if there are several. Collective over the
/// job. Throws UsageError, the same on every process, for fewer than two processes or several GPUs per process.
ActiveProcesses choose_endpoints(const mpi::Communicator& job, const Options& options) {
  const ProcessLocation location = locate_processes(job);
  const EndpointLevel level = options.sweep.level != EndpointLevel::kAuto
                                  ? options.sweep.level
                                  : (location.hosts > 1 ? EndpointLevel::kHost : EndpointLevel::kRank);
  check(location, level, job.size(), options);
  if (!options.sweep.measured_file.empty() && level != EndpointLevel::kHost && job.size() > location.hosts) {
    throw UsageError(
        "--measured continues a sweep over hosts, but several ranks of one host take part; write --level host");
  }
  const bool taking_part = level != EndpointLevel::kHost || location.local_process == 0;
  ActiveProcesses active;
  active.communicator = job.split(taking_part ? std::optional(0) : std::nullopt);
  if (level == EndpointLevel::kHost && job.size() > location.hosts) {
    active.notices.push_back(
        fmt::format("Of {} ranks, the first of each host is measured; --level rank takes all", job.size()));
  }
  return active;
}

class SweepWork final : public TestWork {
 public:
  /// `measured`: readings of earlier jobs, on the first process.
  SweepWork(Job& job, ActiveProcesses active, Test& test, const Sessions& sessions, Measured measured)
      : TestWork(job, std::move(active), test, sessions), measured_(std::move(measured)) {}

  [[nodiscard]] Context make_context() override {
    Context context = TestWork::make_context();
    context.rounds = most_rounds(setup().options, world().size());
    context.sweep = plan_facts(context);
    return context;
  }

 private:
  [[nodiscard]] Ending visit(Run& run) override { return measure_pairs(run, measured_); }
  /// One direction after the other.
  [[nodiscard]] std::int64_t steps() const override { return 2 * most_rounds(job().options, world().size()); }

  Measured measured_;
};

Measured measured_earlier(const Job& job) {
  const std::string& file = job.options.sweep.measured_file;
  if (file.empty()) return {};
  return on_first_process(job.world, [&] { return read_measured(file); });
}

}  // namespace

int run_sweep(const Program& program, int argc, char** argv) {
  const LibrarySessions sessions;
  OneDirection nowhere;
  const auto agree = [&](Job& job) {
    Measured measured = measured_earlier(job);
    return std::make_unique<SweepWork>(job, choose_endpoints(job.world, job.options), nowhere, sessions,
                                       std::move(measured));
  };
  return run(program, agree, make_judges, argc, argv);
}

}  // namespace fabricbench::sweep
