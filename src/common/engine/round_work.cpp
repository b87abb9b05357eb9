#include "common/engine/round_work.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/core/wording.h"
#include "common/engine/conclusion.h"
#include "common/engine/describe.h"
#include "common/host/identity.h"
#include "common/measure/bench.h"
#include "common/ranks/agreement.h"
#include "common/ranks/team.h"

namespace fabricbench {
namespace {

/// The ending that a process other than the first one, which is this process, has reported; empty if none has.
std::optional<Ending> told_to(ProcessTable& process_table) {
  process_table.report({});
  for (const auto& [process, told] : process_table.reports()) {
    if (process == 0) continue;
    Ending ending;
    ending.exit_status = static_cast<int>(told.steps);
    ending.reason = told.activity;
    return ending;
  }
  return std::nullopt;
}

/// Writes to the outputs. A failure to write must not keep the job from ending.
void write_if_possible(const std::function<void(const Ending&)>& write, const Ending& ending) {
  try {
    write(ending);
  } catch (const std::exception& problem) {
    fmt::print(stderr, "fabricbench: {}\n", problem.what());
  }
}

/// Throws on all processes the Error that the processes of the round found in its set-up. Processes outside the round
/// wait asleep, which leaves their processors to the others. Collective.
void throw_of_round(const mpi::Communicator& world, Heartbeat& heartbeat, const StepProblem& own) {
  if (max_at_rest(world, heartbeat, static_cast<std::int64_t>(own.status)) == 0) return;
  std::vector<std::string> texts = world.gather(own.text);
  std::erase(texts, "");
  throw_of_first(world, {static_cast<ExitStatus>(world.max(static_cast<std::int64_t>(own.status))),
                         texts.empty() ? "" : texts.front()});
}

class RoundWork final : public Work {
 public:
  /// `test` and `sessions` must outlive it.
  RoundWork(Job& job, ActiveProcesses active, PairPlan plan, Test& test, const Sessions& sessions)
      : Work(job, std::move(active)), plan_(std::move(plan)), test_(test), sessions_(sessions) {}

  [[nodiscard]] bool has_rests() const override { return true; }
  /// Of the first round.
  void set_up(Outputs& outputs) override {
    outputs_ = &outputs;
    failure_notice_.emplace(world());
    location_ = locate_processes(world());
    location_.reserved_gpus = reserve_gpus(world(), job().world.rank(), sessions_, job().options);
    set_up_round(plan_.rounds.front());
    outputs = open_outputs(world(), test_.traits().row_kind, job().options, job().make_judges);
    if (world().is_root()) totals_.emplace(job().options);
    open_stage();
  }
  /// The context of the first round's session, with all pairs.
  [[nodiscard]] Context make_context() override {
    Context context;
    context.program = job().program.name;  // all that processes need that join in a later round
    if (processes_) context = describe_run(job(), test_, sessions_, *setup_);
    const Team team(world(), "", job().world.rank());
    context.hosts = location_.hosts;
    context.ranks = describe_processes(team, location_, sessions_.describe_gpus(location_.reserved_gpus->devices),
                                       plan_.local_ranks);
    context.groups.clear();
    const LocalPort own = sessions_.local_port();
    const std::vector<LocalPort> ports = gather_on_first(world(), own);
    context.wire_rate = -world().max(-own.rate);
    if (job().options.keeps_records()) context.host_facts = describe_hosts(world(), location_);
    context.seed = agreed_seed(world(), job().options);
    if (!world().is_root()) return context;
    context.clock_error = prepared_->clock_error();
    context.notices.insert(context.notices.begin(), plan_.notices.begin(), plan_.notices.end());
    known_notices_ = context.notices;
    describe_all_pairs(ports, context);
    return context;
  }
  [[nodiscard]] Ending measure(const Context& context) override {
    for (const std::vector<int>& round : plan_.rounds) {
      std::optional<FailureNotice::Listener> listener;
      if (!is_first_) {
        if (world().is_root()) listener.emplace(*failure_notice_, [this](const Ending& ending) { break_off(ending); });
        set_up_later_round(round);
        open_stage();
      }
      run_round(context);
      listener.reset();
      std::vector<RoundReport> own;
      if (processes_ && processes_->is_root()) own.push_back(std::move(report_));
      for (const RoundReport& each : gather_lists_on_first(world(), own)) take(each);
      setup_.reset();
      is_first_ = false;
    }
    return world().is_root() ? whole_ending(context) : Ending();
  }

 private:
  /// If the set-up fails with an Error of kind usage or missing, all processes throw it. Other errors are thrown by
  /// this process alone.
  void set_up_round(const std::vector<int>& round) {
    StepProblem problem;
    round_ = round;
    processes_ = members_of_round(world(), job().world.rank(), plan_, round);
    if (processes_) {
      try {
        setup_ = fabricbench::set_up(*processes_, job().world.rank(), test_, sessions_, job().options,
                                     {round, location_.reserved_gpus, std::ssize(plan_.rounds)});
      } catch (const Error& error) {
        if (error.status() != ExitStatus::kUsage && error.status() != ExitStatus::kMissing) throw;
        problem = {error.status(), error.what()};
      }
    }
    throw_of_round(world(), job().watchdog.heartbeat(), problem);
  }
  void set_up_later_round(const std::vector<int>& round) {
    try {
      set_up_round(round);
    } catch (const Error& error) {
      if (error.status() == ExitStatus::kUsage || error.status() == ExitStatus::kMissing) {
        throw AgreedError(error.status(), error.what());
      }
      break_off(broken_off_by(error));
      throw;
    } catch (const std::exception& error) {
      break_off(broken_off_by(error));
      throw;
    }
  }
  /// Rows of the first round go to the outputs at once, those of later rounds to the process that has the outputs.
  void open_stage() {
    report_ = RoundReport();
    relay_.emplace();
    if (!processes_) return;
    report_.notices = setup_->notices;
    if (!is_first_) {
      relay_->add(std::make_unique<RelaySink>(report_, [this](const Ending& ending) { break_off(ending); }));
    }
    prepared_ = std::make_unique<PreparedRun>(job(), test_, *setup_, has_outputs() ? *outputs_ : *relay_);
  }
  void run_round(const Context& context) {
    if (processes_) {
      if (job().options.memory == MemoryKind::kCuda) report_.on_gpus = describe_on_gpus();
      report_.facts = prepared_->measure(context, [this](Run& run) {
        measure_rows(run, has_outputs() ? &*totals_ : nullptr);
        return Ending();
      });
      prepared_.reset();
    }
    static_cast<void>(max_at_rest(world(), job().watchdog.heartbeat(), 0));
    meet(world(), job().watchdog);
  }
  /// `ports`: by process. A rank in several pairs keeps the port that it has in the first of them.
  void describe_all_pairs(const std::vector<LocalPort>& ports, Context& context) const {
    std::vector<RankFacts>& ranks = context.ranks;
    std::map<int, LocalPort> port_of;
    for (std::size_t place = 0; place < ranks.size(); ++place) {
      port_of[ranks[place].rank] = ports[place / static_cast<std::size_t>(plan_.local_ranks)];
    }
    std::map<int, std::pair<int, int>> first_place;  // by rank: its first pair, and its place in that pair
    std::vector<GroupFacts>& groups = context.groups;
    for (const auto& [first, second] : plan_.pairs) {
      const auto number = static_cast<int>(groups.size());
      first_place.emplace(first, std::pair(number, 0));
      first_place.emplace(second, std::pair(number, 1));
      groups.push_back({fmt::format("{}, {}", first, second), fmt::format("{}, {}", host_of(first), host_of(second))});
      describe_ports(port_of[first], port_of[second], groups.back());
      groups.back().host_names = distinct_hosts(host_of(first), host_of(second));
    }
    for (std::size_t round = 0; round < plan_.rounds.size(); ++round) {
      for (const int number : plan_.rounds[round]) {
        groups[static_cast<std::size_t>(number)].round = static_cast<int>(round);
      }
    }
    std::sort(ranks.begin(), ranks.end(), [](const RankFacts& a, const RankFacts& b) { return a.rank < b.rank; });
    std::map<std::string, int> local_ranks;
    for (RankFacts& facts : ranks) {
      facts.local_rank = local_ranks[facts.host]++;
      std::tie(facts.group, facts.group_rank) = first_place.at(facts.rank);
    }
    describe_traffic(test_, context);
  }
  /// Called in every round: a rank in several pairs has another session in each.
  [[nodiscard]] std::vector<RankFacts> describe_on_gpus() const {
    std::vector<RankFacts> ranks = describe_ranks(*setup_->team, setup_->location, *setup_->backend.session, sessions_);
    for (RankFacts& facts : ranks) facts.group = round_[static_cast<std::size_t>(facts.group)];
    return ranks;
  }
  [[nodiscard]] const std::string& host_of(int rank) const {
    return plan_.hosts[static_cast<std::size_t>(rank / plan_.local_ranks)];
  }
  [[nodiscard]] bool has_outputs() const { return is_first_ && world().is_root(); }
  /// Makes the outputs end with the reason. On the process that has the outputs, the listener's or the watchdog's
  /// thread may call this. No other thread writes to the outputs during later rounds.
  void break_off(const Ending& ending) {
    if (world().is_root()) {
      const std::lock_guard lock(breaking_off_);
      if (!std::exchange(has_broken_off_, true)) outputs_->abandon(ending);
      return;
    }
    Ending told = ending;
    const int first_rank = job().world.rank() * plan_.local_ranks;
    told.reason = fmt::format("{}: {}", host::name_of_process(first_rank, location_.host), ending.reason);
    failure_notice_->tell(told);
  }
  /// Takes over a round's report, on the process that has the outputs.
  void take(const RoundReport& report) {
    for (const EpochRecord& record : report.epochs) outputs_->record(record);
    for (const Row& row : report.rows) {
      outputs_->record(row);
      totals_->add(row, test_.traits().name, test_.traits().row_kind);
    }
    facts_.add(report.facts);
    on_gpus_.insert(on_gpus_.end(), report.on_gpus.begin(), report.on_gpus.end());
    for (const std::string& notice : report.notices) {
      if (std::find(known_notices_.begin(), known_notices_.end(), notice) != known_notices_.end()) continue;
      known_notices_.push_back(notice);
      later_notices_.push_back(notice);
    }
  }
  [[nodiscard]] Ending whole_ending(const Context& context) {
    constexpr std::size_t kMostNotices = 16;
    Ending ending = conclude(*totals_, context);
    std::vector<std::string>& notes = ending.notes;
    Context on_gpus = context;  // `conclude` needs sessions that were opened after the context was made
    on_gpus.ranks = on_gpus_;
    const std::vector<std::string> slow = slow_memory(*totals_, on_gpus);
    notes.insert(notes.end(), slow.begin(), slow.end());
    const std::vector<std::string> later =
        shortened(std::move(later_notices_), kMostNotices, "more notices of later rounds");
    notes.insert(notes.end(), later.begin(), later.end());
    facts_.add_to(ending);
    return ending;
  }

  PairPlan plan_;
  Test& test_;
  const Sessions& sessions_;
  ProcessLocation location_;
  std::optional<FailureNotice> failure_notice_;
  Outputs* outputs_ = nullptr;  // of the run

  // The current round:
  std::vector<int> round_;  // its pairs
  bool is_first_ = true;
  std::optional<mpi::Communicator> processes_;  // empty on a process that is in none of its pairs
  RoundReport report_;
  std::optional<Outputs> relay_;
  std::optional<Setup> setup_;
  std::unique_ptr<PreparedRun> prepared_;

  // On the first process:
  std::optional<Totals> totals_;
  RunFacts facts_;
  std::vector<RankFacts> on_gpus_;
  std::vector<std::string> known_notices_;
  std::vector<std::string> later_notices_;
  std::mutex breaking_off_;
  bool has_broken_off_ = false;
};

}  // namespace

void FailureNotice::tell(const Ending& ending) {
  constexpr int kTimes = 5;
  constexpr Seconds kPause = 0.1;
  for (int time = 0; time < kTimes; ++time) {
    process_table_.report({.steps = static_cast<std::uint64_t>(ending.exit_status), .activity = ending.reason});
    sleep_for(kPause);
  }
}

FailureNotice::Listener::Listener(FailureNotice& words, std::function<void(const Ending&)> write)
    : thread_([&process_table = words.process_table_, write = std::move(write)](const std::stop_token& stop) {
        constexpr auto kPause = std::chrono::milliseconds(100);
        std::mutex mutex;
        std::condition_variable_any stopped;
        std::unique_lock lock(mutex);
        while (!stopped.wait_for(lock, stop, kPause, [&stop] { return stop.stop_requested(); })) {
          if (const auto ending = told_to(process_table)) {
            write_if_possible(write, *ending);
            return;
          }
        }
      }) {}

void check_rounds(const PairPlan& plan, const Options& options) {
  if (plan.rounds.size() == 1 || options.cycles != 0) return;
  throw UsageError(fmt::format(
      "--run-cycles 0 would repeat the first of {} rounds for ever; give the number of cycles, or leave out "
      "--concurrent and --pairs all",
      plan.rounds.size()));
}

std::unique_ptr<Work> make_round_work(Job& job, ActiveProcesses active, PairPlan plan, Test& test,
                                      const Sessions& sessions) {
  return std::make_unique<RoundWork>(job, std::move(active), std::move(plan), test, sessions);
}

}  // namespace fabricbench
