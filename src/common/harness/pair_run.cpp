#include "common/harness/pair_run.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/core/at_most.h"
#include "common/core/error.h"
#include "common/harness/conclusion.h"
#include "common/harness/exchange.h"
#include "common/harness/members.h"
#include "common/harness/round_report.h"
#include "common/harness/run.h"
#include "common/harness/team.h"
#include "common/harness/verdict.h"

namespace fabricbench {
namespace {

/// The rounds of a run, one after the other, on every process that takes part in any of them. The first of these has
/// the outputs, and is the first of the first round's.
class RoundRun {
 public:
  RoundRun(const mpi::Communicator& world, Job& job, const PairPlan& plan, Collective& collective,
           const MeasureRows& measure)
      : world_(world),
        job_(job),
        plan_(plan),
        collective_(collective),
        measure_(measure),
        placed_(place_processes(world)),
        seed_(agreed_seed(world, job.options)),
        last_words_(world) {
    if (world.is_root()) totals_.emplace(job.options);
  }

  int run() {
    try {
      placed_.kept_gpus = keep_gpus(world_, job_.world.rank(), collective_, job_.options);
    } catch (const Error& error) {
      return refuse(world_, job_.program.name, error);
    }
    for (const std::vector<int>& round : plan_.rounds) {
      if (const int status = run_round(round); status != 0) return status;
    }
    Ending ending;
    if (world_.is_root()) ending = whole_ending();
    return report_end(world_, job_.program.name, outputs_, usage_, std::move(ending));
  }

 private:
  /// The exit status of its set-up, the same on every process.
  int run_round(const std::vector<int>& round) {
    const auto members = members_of_round(world_, job_.world.rank(), plan_, round);
    RoundReport report;
    std::optional<LastWords::Listener> listener;
    if (world_.is_root() && !is_first_)
      listener.emplace(last_words_, [this](const Ending& ending) { break_off(ending); });
    std::optional<Setup> setup;
    if (members) setup = set_up_round(*members, round, report);
    const auto status = static_cast<int>(world_.max_patiently(static_cast<std::int64_t>(report.status)));
    if (status == 0 && !context_) begin(members, setup);
    if (status == 0 && members) {
      if (job_.options.memory == MemoryKind::kCuda) report.on_gpus = describe_on_gpus(*setup, round);
      measure_round(*members, *setup, report);
    }
    static_cast<void>(world_.max_patiently(0));
    listener.reset();
    std::vector<RoundReport> own;
    if (members && members->is_root()) own.push_back(std::move(report));
    for (const RoundReport& each : gather_lists(world_, own)) take(each);
    is_first_ = false;
    return status;
  }

  /// Nothing where the report says why.
  std::optional<Setup> set_up_round(const mpi::Communicator& members, const std::vector<int>& round,
                                    RoundReport& report) {
    try {
      Setup setup = set_up(members, job_.world.rank(), collective_, job_.options, {round, placed_.kept_gpus});
      if (!context_) outputs_ = open_outputs(members, collective_.figure(), setup.options);
      report.notices = setup.notices;
      return setup;
    } catch (const std::exception& error) {
      const ExitStatus status = status_of(error);
      if (status != ExitStatus::kUsage && status != ExitStatus::kMissing) {
        break_off(broken_off_by(error));
        throw;
      }
      report.status = status;
      report.problem = error.what();
      return std::nullopt;
    }
  }

  /// Sees to it that the outputs say why the run ends here. On the process that has them, which in later rounds nothing
  /// else writes meanwhile, a listener may be the one that calls, or the watchdog.
  void break_off(const Ending& ending) {
    if (world_.is_root()) {
      const std::lock_guard lock(breaking_off_);
      if (!std::exchange(has_broken_off_, true)) {
        outputs_.abandon(ending);
      }
      return;
    }
    Ending told = ending;
    told.reason = fmt::format("rank {} on {}: {}", job_.world.rank() * plan_.local_ranks, placed_.host, ending.reason);
    last_words_.tell(told);
  }

  /// After the first round's set-up: tells of the whole run what is known now.
  void begin(const std::optional<mpi::Communicator>& members, const std::optional<Setup>& setup) {
    context_.emplace();
    context_->program = job_.program.name;  // the one thing that who joins in a later round needs
    if (members) context_ = describe_run(*members, job_, collective_, *setup);
    const Team team(world_, "", job_.world.rank());
    context_->hosts = placed_.hosts;
    context_->ranks = describe_processes(team, placed_, plan_.local_ranks);
    context_->groups.clear();
    const std::vector<std::string> ports = world_.gather(collective_.own_port().name);
    context_->wire_rate = -world_.max(-collective_.own_port().rate);
    if (!job_.options.json_file.empty()) context_->host_facts = describe_hosts(world_, placed_);
    context_->seed = seed_;
    if (!world_.is_root()) return;
    context_->notices.insert(context_->notices.begin(), plan_.notices.begin(), plan_.notices.end());
    known_notices_ = context_->notices;
    describe_all_pairs(ports);
  }

  /// `ports`: of the processes in their order. Of a rank that is in several pairs, the first one counts as its own.
  void describe_all_pairs(const std::vector<std::string>& ports) {
    std::vector<RankFacts>& ranks = context_->ranks;
    std::map<int, std::string> port_of;
    for (std::size_t place = 0; place < ranks.size(); ++place) {
      port_of[ranks[place].rank] = ports[place / static_cast<std::size_t>(plan_.local_ranks)];
    }
    std::map<int, std::pair<int, int>> first_place;  // by rank: its first pair, and its place in that
    std::vector<GroupFacts>& groups = context_->groups;
    for (const auto& [first, second] : plan_.pairs) {
      const auto number = static_cast<int>(groups.size());
      first_place.emplace(first, std::pair(number, 0));
      first_place.emplace(second, std::pair(number, 1));
      groups.push_back({fmt::format("{}, {}", first, second), fmt::format("{}, {}", host_of(first), host_of(second)),
                        port_of[first].empty() ? "" : fmt::format("{}, {}", port_of[first], port_of[second])});
    }
    for (std::size_t round = 0; round < plan_.rounds.size(); ++round) {
      for (const int number : plan_.rounds[round])
        groups[static_cast<std::size_t>(number)].round = static_cast<int>(round);
    }
    std::sort(ranks.begin(), ranks.end(), [](const RankFacts& a, const RankFacts& b) { return a.rank < b.rank; });
    std::map<std::string, int> local_ranks;
    for (RankFacts& facts : ranks) {
      facts.local_rank = local_ranks[facts.host]++;
      std::tie(facts.group, facts.group_rank) = first_place.at(facts.rank);
    }
  }

  /// A rank is in several pairs, and in each its session says something else.
  [[nodiscard]] static std::vector<RankFacts> describe_on_gpus(const Setup& setup, const std::vector<int>& round) {
    std::vector<RankFacts> ranks = describe_ranks(*setup.team, setup.placed, *setup.backend.session);
    for (RankFacts& facts : ranks) facts.group = round[static_cast<std::size_t>(facts.group)];
    return ranks;
  }

  [[nodiscard]] const std::string& host_of(int rank) const {
    return plan_.hosts[static_cast<std::size_t>(rank / plan_.local_ranks)];
  }

  void measure_round(const mpi::Communicator& members, Setup& setup, RoundReport& report) {
    const bool has_outputs = is_first_ && members.is_root();
    if (has_outputs) {
      std::swap(setup.outputs, outputs_);
    } else if (!is_first_) {
      setup.outputs.add(std::make_unique<RelaySink>(report, [this](const Ending& ending) { break_off(ending); }));
    }
    const auto begin = [&] {
      if (!has_outputs) return;
      setup.outputs.begin(*context_);
    };
    const auto rows_only = [&](Run& run) {
      measure_(run, has_outputs ? &*totals_ : nullptr);
      return Ending();
    };
    StageEnding ending;
    try {
      ending = run_stage(members, collective_, setup, *context_, begin, rows_only);
    } catch (const std::exception& error) {
      abandon(setup.outputs, error);
      throw;
    }
    if (has_outputs) std::swap(setup.outputs, outputs_);
    report.wires = std::move(ending.wires);
    report.remarks = std::move(ending.remarks);
    report.memory_usage = std::move(ending.memory_usage);
  }

  /// On the process that has the outputs.
  void take(const RoundReport& report) {
    if (report.status != ExitStatus::kOk) {
      say(job_.program.name, report.problem);
      abandon(outputs_, report.status, report.problem);
      return;
    }
    for (const EpochRecord& record : report.epochs) outputs_.record(record);
    for (const Row& row : report.rows) {
      outputs_.record(row);
      totals_->add(row, std::string(collective_.name()));
    }
    whole_.wires.add(report.wires);
    on_gpus_.insert(on_gpus_.end(), report.on_gpus.begin(), report.on_gpus.end());
    whole_.remarks.insert(whole_.remarks.end(), report.remarks.begin(), report.remarks.end());
    if (!report.memory_usage.empty()) whole_.memory_usage = report.memory_usage;
    for (const std::string& notice : report.notices) {
      if (std::find(known_notices_.begin(), known_notices_.end(), notice) != known_notices_.end()) continue;
      known_notices_.push_back(notice);
      later_notices_.push_back(notice);
    }
  }

  Ending whole_ending() {
    constexpr std::size_t kMostNotices = 16;
    whole_.ending = conclude(*totals_, *context_);
    std::vector<std::string>& notes = whole_.ending.notes;
    const std::vector<std::string> slow = slow_memory_of_all();
    notes.insert(notes.end(), slow.begin(), slow.end());
    const std::vector<std::string> later =
        at_most(std::move(later_notices_), kMostNotices, "notices more of later rounds");
    notes.insert(notes.end(), later.begin(), later.end());
    return std::move(whole_).whole();
  }

  /// What `conclude` cannot say of pairs whose sessions were opened after the context was known.
  [[nodiscard]] std::vector<std::string> slow_memory_of_all() {
    Context context = *context_;
    context.ranks = on_gpus_;
    return slow_memory(*totals_, context);
  }

  const mpi::Communicator& world_;
  Job& job_;
  const PairPlan& plan_;
  Collective& collective_;
  const MeasureRows& measure_;
  Placed placed_;
  std::uint64_t seed_;
  LastWords last_words_;
  SystemUsage usage_;
  std::optional<Context> context_;  // from the first round's set-up on; whole on the first process
  bool is_first_ = true;            // the round under way
  // On the first process:
  Outputs outputs_;
  std::optional<Totals> totals_;
  StageEnding whole_;
  std::vector<RankFacts> on_gpus_;
  std::vector<std::string> known_notices_;
  std::vector<std::string> later_notices_;
  std::mutex breaking_off_;
  bool has_broken_off_ = false;
};

void check_rounds(const Options& options, const PairPlan& plan) {
  if (plan.rounds.size() == 1) return;
  if (options.cycles != 0) return;
  throw UsageError(fmt::format(
      "--run-cycles 0 would repeat the first of {} rounds for ever; give the number of cycles, or leave out "
      "--concurrent and --pairs all",
      plan.rounds.size()));
}

/// All pairs at the same time.
int run_at_once(Job& job, const PairPlan& plan, Collective& collective, const MeasureRows& measure) {
  return run_members(job, members_of(job.world, plan), collective, [&measure](Run& run) {
    Totals totals(run.setup.options);
    measure(run, &totals);
    return conclude(totals, run.context);
  });
}

int run_in_rounds(Job& job, const PairPlan& plan, Collective& collective, const MeasureRows& measure) {
  const Members members = members_of(job.world, plan);
  int status = 0;
  if (members.communicator) status = RoundRun(*members.communicator, job, plan, collective, measure).run();
  return static_cast<int>(job.world.max_patiently(status));
}

}  // namespace

int run_pairs(Job& job, Collective& collective, const MeasureRows& measure) {
  PairPlan plan;
  try {
    plan = plan_pairs(job.world, collective, job.options);
    check_rounds(job.options, plan);
    collective.prepare(job.world, plan, job.options);
  } catch (const Error& error) {
    return refuse(job.world, job.program.name, error);
  }
  const auto run = plan.rounds.size() == 1 ? run_at_once : run_in_rounds;
  return run(job, plan, collective, measure);
}

}  // namespace fabricbench
