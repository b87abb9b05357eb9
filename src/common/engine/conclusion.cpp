#include "common/engine/conclusion.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/core/clock.h"
#include "common/core/wording.h"
#include "common/host/identity.h"
#include "common/host/usage.h"
#include "common/mpi/environment.h"
#include "common/ranks/agreement.h"
#include "common/report/banner.h"
#include "common/watch/progress.h"

namespace fabricbench {
namespace {

std::string named_pair(const Context& context, int pair) {
  return fmt::format("Pair {} ({})", pair, pair_text(context, pair));
}

/// 0 if it was not measured.
double host_memory_rate(const Context& context, int pair) {
  const auto found = std::find_if(context.ranks.begin(), context.ranks.end(),
                                  [pair](const RankFacts& rank) { return rank.group == pair; });
  return found == context.ranks.end() ? 0 : found->host_memory_rate;
}

/// The obstacles at both ends of a pair.
std::string suspects_of(const Context& context, int pair) {
  std::string text;
  for (const RankFacts& rank : context.ranks) {
    if (rank.group != pair) continue;
    for (const std::string& obstacle : rank.obstacles) {
      text += fmt::format("{}rank {}: {}", text.empty() ? "" : "; ", rank.rank, obstacle);
    }
  }
  if (!text.empty()) return text;
  return "none found at either end; check the size of BAR1 (nvidia-smi -q), relaxed ordering (the BIOS, and "
         "PCI_WR_ORDERING of the adapter), and how the memory was registered";
}

/// Whether the pair was faster than its slower port can be.
bool has_wrong_rate(const Totals& totals, const Context& context, int pair) {
  const auto most = totals.most_bandwidth(pair);
  return most && share_of_rate(context, pair, most->algbw).value_or(0) > kMostOfRate;
}

bool is_required(const Options& options) {
  return options.min_bandwidth_gb_per_s > 0 || options.rdma.max_latency > 0 || options.rdma.percent_of_rate > 0;
}

bool is_one_group(const Context& context) {
  return context.row_kind == RowKind::kCollective && context.groups.size() == 1;
}

/// The pair, or one of several groups, at the beginning of a sentence.
std::string named_group(const Context& context, int group) {
  if (context.row_kind != RowKind::kCollective) return named_pair(context, group);
  if (is_one_group(context)) return "The operation";
  const GroupFacts& facts = context.groups[static_cast<std::size_t>(group)];
  return fmt::format("Group {} (ranks {}; hosts {})", group, facts.ranks, facts.hosts);
}

/// Why there are no figures to judge; empty if there are.
std::string why_no_figures(const Totals& totals, const Context& context) {
  if (totals.measurements() == 0) return "Nothing was measured, so the requirements could not be judged";
  if (context.left_out_pairs > 0)
    return fmt::format("{}, so the requirements could not be judged on all pairs", left_out_text(context));
  for (int pair = 0; pair < static_cast<int>(context.groups.size()); ++pair) {
    if (totals.measurements(pair) > 0) continue;
    return fmt::format("{} was not measured, so the requirements could not be judged", named_group(context, pair));
  }
  if (const auto& row = totals.without_figure()) {
    return fmt::format("{} has no figure at {} bytes, so the requirements could not be judged",
                       named_group(context, row->group), row->size);
  }
  return "";
}

/// Judges one requirement after the other, and collects the findings.
class Judge {
  static constexpr double kTolerated = 0.9;  // of --min-bw, in nccl-tests

 public:
  Judge(const Totals& totals, const Context& context)
      : totals_(totals), context_(context), required_(context.options.rdma) {}

  void judge_bandwidth() {
    const double required = context_.options.min_bandwidth_gb_per_s;
    if (required <= 0) return;
    if (context_.row_kind == RowKind::kLatency) {
      not_judged_.emplace_back("--min-bw is for programs that end in _bw; use --max-lat with this one");
      return;
    }
    if (totals_.measurements() == 0) return;
    const bool like_nccl_tests = context_.options.like == ReferenceTool::kNcclTests;
    const double least = like_nccl_tests ? kTolerated * required : required;
    const int group = totals_.slowest_group();
    const double average = totals_.average_busbw(group) / 1e9;
    if (average >= least) return;
    const std::string of_group = is_one_group(context_) ? "" : fmt::format(" of {}", named_group(context_, group));
    if (average <= 0 && !like_nccl_tests) {
      not_judged_.push_back(
          fmt::format("The busbw{} is 0 by definition, as of one rank and of barriers, so --min-bw "
                      "could not be judged",
                      of_group));
      return;
    }
    too_slow_.push_back(fmt::format("The average{}{}, {:.4g} GB/s, is below {}{} GB/s, which --min-bw requires",
                                    context_.row_kind == RowKind::kCollective ? " busbw" : "", of_group, average,
                                    like_nccl_tests ? fmt::format("{} of ", kTolerated) : "", required));
  }

  void judge_latency() {
    if (required_.max_latency <= 0) return;
    if (context_.row_kind != RowKind::kLatency) {
      not_judged_.emplace_back("--max-lat is for programs that end in _lat; use --min-bw with this one");
      return;
    }
    const auto& row = totals_.largest_latency();
    if (!row || row->median <= required_.max_latency) return;
    too_slow(*row, fmt::format("a median of {:.4g} us", row->median * 1e6),
             fmt::format("--max-lat allows {:.4g} us", required_.max_latency * 1e6));
  }

  void judge_share_of_rate() {
    if (required_.percent_of_rate <= 0) return;
    if (context_.row_kind == RowKind::kLatency) {
      not_judged_.emplace_back("--percent-of-rate is for programs that end in _bw; use --max-lat with this one");
      return;
    }
    std::optional<Totals::Figures> worst;
    std::optional<int> with_unknown_rate;
    double least = 0;
    for (int pair = 0; pair < static_cast<int>(context_.groups.size()); ++pair) {
      const auto row = totals_.least_bandwidth(pair);
      if (!row) continue;
      const auto share = share_of_rate(context_, pair, row->algbw);
      if (!share || has_wrong_rate(totals_, context_, pair)) {
        if (!with_unknown_rate) with_unknown_rate = pair;
      } else if (!worst || *share < least) {
        worst = row;
        least = *share;
      }
    }
    if (with_unknown_rate) rate_is_unknown(*with_unknown_rate);
    if (!worst || 100 * least >= required_.percent_of_rate) return;
    const double rate = context_.groups[static_cast<std::size_t>(worst->group)].wire_rate;
    too_slow(*worst, fmt::format("{:.4g} % of the {:.4g} GB/s of its slower port", 100 * least, rate / 1e9),
             fmt::format("--percent-of-rate requires {:.4g} %", required_.percent_of_rate));
  }

  [[nodiscard]] SpeedVerdict verdict() const {
    SpeedVerdict verdict;
    verdict.findings = too_slow_;
    if (const std::string why = why_no_figures(totals_, context_); !why.empty()) verdict.findings.push_back(why);
    verdict.findings.insert(verdict.findings.end(), not_judged_.begin(), not_judged_.end());
    if (verdict.findings.empty()) {
      verdict.fast_enough = true;
      return verdict;
    }
    verdict.reason = verdict.findings.front();
    verdict.status = too_slow_.empty() ? ExitStatus::kNotJudged : ExitStatus::kTooSlow;
    if (!too_slow_.empty()) verdict.fast_enough = false;
    return verdict;
  }

 private:
  void rate_is_unknown(int pair) {
    not_judged_.push_back(fmt::format(
        "--percent-of-rate could not be judged: the rate of the ports of {} is not known; give --min-bw instead",
        named_pair(context_, pair)));
  }

  void too_slow(const Totals::Figures& row, const std::string& had, const std::string& required) {
    too_slow_.push_back(fmt::format("{} had {} at {} bytes, the worst of all rows; {}", named_pair(context_, row.group),
                                    had, row.size, required));
  }

  const Totals& totals_;
  const Context& context_;
  const RdmaOptions& required_;
  std::vector<std::string> too_slow_;
  std::vector<std::string> not_judged_;
};

std::string text_of(const Totals::Slowest& slowest, const RankFacts& rank, std::size_t ranks, std::string_view blocks) {
  return fmt::format(
      "Rank {} of host {} took longest in {:.0f} % of the samples ({:.0f} % would be chance), and most often in {} of "
      "{} {}; its mean time is {:+.1f} % from the median of the others",
      rank.rank, rank.host, slowest.share * 100, 100.0 / static_cast<double>(ranks), slowest.leader.blocks,
      slowest.leader.all_blocks, blocks, slowest.excess * 100);
}

std::string text_of(const Totals::Idlest& idlest, std::string_view what, const RankFacts& rank,
                    std::string_view blocks) {
  return fmt::format(
      "Rank {} of host {} {} for {:.0f} % of the time, the others for {:.0f} %; it did so most in {} of {} {}. A "
      "collective waits for all ranks, so times include that",
      rank.rank, rank.host, what, idlest.share * 100, idlest.others * 100, idlest.leader.blocks,
      idlest.leader.all_blocks, blocks);
}

/// On the ranks of a group that stand out.
void note_ranks(const Totals& totals, const Context& context, int group, std::vector<std::string>& notes) {
  std::map<int, const RankFacts*> ranks;  // by their number in the group
  for (const RankFacts& rank : context.ranks) {
    if (rank.group == group) ranks[rank.group_rank] = &rank;
  }
  const auto count = static_cast<std::int64_t>(ranks.size());
  // Where ranks share processors, some rank always waits and takes longest, and a notice says so.
  const bool lacks_processors = std::any_of(ranks.begin(), ranks.end(), [](const auto& rank) {
    return rank.second->processes_on_host > rank.second->processors_on_host;
  });
  const std::string_view blocks = context.options.iterations ? "sizes" : "epochs";
  const auto slowest = totals.slowest_rank(group, count);
  if (slowest && !lacks_processors && ranks.contains(slowest->leader.rank)) {
    notes.push_back(text_of(*slowest, *ranks.at(slowest->leader.rank), ranks.size(), blocks));
  }
  if (context.row_kind != RowKind::kCollective) return;  // of a pair, one side may well sleep while the other works
  const auto stopped = totals.stopped_rank(group, count);
  if (stopped && ranks.contains(stopped->leader.rank)) {
    notes.push_back(text_of(*stopped, "was stopped or asleep", *ranks.at(stopped->leader.rank), blocks));
  }
  const auto waiting = totals.waiting_rank(group, count);
  if (!waiting || lacks_processors || !ranks.contains(waiting->leader.rank)) return;
  notes.push_back(text_of(*waiting, "waited for a processor", *ranks.at(waiting->leader.rank), blocks));
}

/// Adds a note on each group, and one on the slowest group.
void note_groups(const Totals& totals, const Context& context, std::vector<std::string>& notes) {
  const auto name_of = [&](int group) {
    const GroupFacts& facts = context.groups[static_cast<std::size_t>(group)];
    return fmt::format("Group {} (ranks {}; hosts {})", group, facts.ranks, facts.hosts);
  };
  double fastest = 0;
  for (int group = 0; group < static_cast<int>(context.groups.size()); ++group) {
    notes.push_back(fmt::format("{}: average busbw {:.4g} GB/s", name_of(group), totals.average_busbw(group) / 1e9));
    fastest = std::max(fastest, totals.average_busbw(group));
  }
  const int slowest = totals.slowest_group();
  if (fastest <= 0) return;
  notes.push_back(fmt::format("{} is the slowest, {:.1f} % below the fastest; the average above is that of this group",
                              name_of(slowest), 100 * (1 - totals.average_busbw(slowest) / fastest)));
}

std::vector<std::string> notes_of(const Totals& totals, const Context& context) {
  std::vector<std::string> notes = totals.wrong_data();
  if (std::string line = totals.waited_line(); !line.empty()) notes.push_back(std::move(line));
  if (totals.late() > 0) notes.push_back(fmt::format("{} samples began late and were left out", totals.late()));
  if (totals.shortened() > 0) {
    notes.push_back(
        fmt::format("fewer than {} epochs, without warm-up before each, in {} of {} measurements, whose operations "
                    "are long for {} each; raise --time-budget for narrower intervals",
                    context.options.epochs, totals.shortened(), totals.measurements(),
                    readable_seconds(context.options.time_budget)));
  }
  if (totals.started_by_barrier() > 0) {
    notes.push_back(
        fmt::format("{} of {} measurements were started by a barrier, not by the common clock: ranks "
                    "came late to most starts, or the clock was not exact enough",
                    totals.started_by_barrier(), totals.measurements()));
  }
  if (totals.below_resolution() > 0) {
    notes.push_back(fmt::format(
        "{} of {} measurements took less than a step of the GPU's clock, {}: their times and bandwidths say "
        "no more than that",
        totals.below_resolution(), totals.measurements(), readable_seconds(totals.coarsest_resolution())));
  }
  if (std::string line = totals.checked_line(); !line.empty()) notes.push_back(std::move(line));
  if (context.row_kind != RowKind::kCollective) return notes;  // the table of pairs has these figures
  if (std::string line = totals.checked_bits_line(); !line.empty()) notes.push_back(std::move(line));
  for (std::string& line : totals.repeatability()) notes.push_back(std::move(line));
  const int groups = static_cast<int>(context.groups.size());
  if (groups > 1) note_groups(totals, context, notes);
  for (int group = 0; group < groups; ++group) note_ranks(totals, context, group, notes);
  return notes;
}

}  // namespace

std::string left_out_text(const Context& context) {
  const std::int64_t all = context.left_out_pairs + std::ssize(context.groups);
  return fmt::format("{} of {} pairs {} left out for want of a usable device", context.left_out_pairs, all,
                     context.left_out_pairs == 1 ? "was" : "were");
}

std::vector<std::string> slow_memory(const Totals& totals, const Context& context) {
  constexpr double kUsualShare = 0.8;
  std::vector<std::string> lines;
  for (int pair = 0; pair < static_cast<int>(context.groups.size()); ++pair) {
    const double host = host_memory_rate(context, pair);
    const auto row = totals.largest_message(pair);
    if (host <= 0 || !row || row->algbw >= kUsualShare * host) continue;
    lines.push_back(fmt::format(
        "{} had {:.4g} GB/s from GPU memory at {} bytes, {:.0f} % of the {:.4g} GB/s from host memory over the same "
        "adapters; suspects: {}",
        named_pair(context, pair), row->algbw / 1e9, row->size, 100 * row->algbw / host, host / 1e9,
        suspects_of(context, pair)));
  }
  return lines;
}

std::vector<std::string> wrong_rates(const Totals& totals, const Context& context) {
  constexpr std::size_t kMostLines = 16;
  std::vector<std::string> lines;
  if (context.row_kind == RowKind::kLatency) return lines;
  for (int pair = 0; pair < static_cast<int>(context.groups.size()); ++pair) {
    if (!has_wrong_rate(totals, context, pair)) continue;
    const GroupFacts& facts = context.groups[static_cast<std::size_t>(pair)];
    const auto most = totals.most_bandwidth(pair);
    lines.push_back(fmt::format(
        "{} had {:.4g} GB/s in one direction at {} bytes, which is more than the {:.4g} GB/s of {}: its rate is wrong "
        "(drivers report 4X QDR for modes that they do not know, and bonds differ), or the data did not cross the "
        "port; %rate is unknown",
        named_pair(context, pair), one_way(context.row_kind, most->algbw) / 1e9, most->size, facts.wire_rate / 1e9,
        facts.wire_rate_source));
  }
  return shortened(std::move(lines), kMostLines, "more pairs faster than the rate of their ports");
}

SpeedVerdict verdict_of(const Totals& totals, const Context& context) {
  if (!is_required(context.options)) return {};
  if (totals.most_waited() > 0) return {ExitStatus::kNotJudged, waited_text(totals.most_waited()), {}, {}};
  Judge judge(totals, context);
  judge.judge_bandwidth();
  judge.judge_latency();
  judge.judge_share_of_rate();
  return judge.verdict();
}

Ending conclude(const Totals& totals, const Context& context) {
  const Options& options = context.options;
  Ending ending;
  ending.wrong_checks = totals.wrong_checks();
  ending.notes = notes_of(totals, context);
  ending.precision = totals.precision_line();
  ending.average_busbw = totals.average_busbw(totals.slowest_group());
  ExitStatus status = ExitStatus::kOk;
  ending.reason = "every size was measured and every check passed";
  if (options.checks == 0) ending.reason = "every size was measured; nothing was checked, as --check 0 asks";
  if (context.left_out_pairs > 0) {
    status = ExitStatus::kMissing;
    ending.reason = fmt::format("{}; the others were measured", left_out_text(context));
  }
  const SpeedVerdict verdict = verdict_of(totals, context);
  ending.fast_enough = verdict.fast_enough;
  ending.notes.insert(ending.notes.end(), verdict.findings.begin(), verdict.findings.end());
  for (const auto& lines : {wrong_rates(totals, context), slow_memory(totals, context)})
    ending.notes.insert(ending.notes.end(), lines.begin(), lines.end());
  if (verdict.status != ExitStatus::kOk) {
    status = verdict.status;
    ending.reason = verdict.reason;
  }
  if (totals.all_lost() > 0) {
    status = ExitStatus::kNotJudged;
    ending.reason = fmt::format("all messages of {} of {} measurements were lost: there is no figure",
                                totals.all_lost(), totals.measurements());
  }
  if (totals.without_load() > 0) {
    status = ExitStatus::kNotJudged;
    ending.reason = fmt::format(
        "the stream of --background carried nothing during {} of {} measurements: these are no figures under load; "
        "measure longer (-n), or give the ranks more processors",
        totals.without_load(), totals.measurements());
  }
  if (totals.without_time() > 0) {
    status = ExitStatus::kNotJudged;
    ending.reason = fmt::format(
        "{} of {} measurements took no time by this host's clock (CLOCK_MONOTONIC), which stands still or jumps: their "
        "figures mean nothing",
        totals.without_time(), totals.measurements());
  }
  if (totals.wrong_checks() > 0) {
    status = ExitStatus::kWrongData;
    ending.reason = counted(totals.wrong_checks(), "check") + " found wrong data";
  }
  ending.exit_status = static_cast<int>(status);
  return ending;
}

bool abandon(const Outputs& outputs, const Ending& ending) {
  end_progress();
  try {
    return outputs.abandon(ending);
  } catch (const std::exception& problem) {  // the run has failed before, which matters more
    fmt::print(stderr, "fabricbench: {}\n", problem.what());
    return true;
  }
}

void abandon(const Outputs& outputs, ExitStatus status, const std::string& reason) {
  Ending ending;
  ending.exit_status = static_cast<int>(status);
  ending.reason = reason;
  static_cast<void>(abandon(outputs, ending));
}

void abandon(const Outputs& outputs, const std::exception& error) {
  abandon(outputs, status_of(error), message_of(error));
}

Ending broken_off_by(const std::exception& error) {
  Ending ending;
  ending.exit_status = static_cast<int>(status_of(error));
  ending.reason = message_of(error);
  return ending;
}

namespace {

/// A clock that leaps makes figures wrong that look right. `leap` and whose it is.
void judge_clock(Ending& ending, const std::pair<Seconds, std::string>& leap) {
  constexpr Seconds kTolerated = 0.05;
  if (leap.first < kTolerated || ending.exit_status != 0) return;
  ending.exit_status = static_cast<int>(ExitStatus::kNotJudged);
  ending.reason = fmt::format("the clock of {} (CLOCK_MONOTONIC) leapt by {} during the run: figures may mean nothing",
                              leap.second, readable_seconds(leap.first));
}

}  // namespace

SystemUsage::SystemUsage() : stolen_(host::stolen_ticks().value_or(0)), began_(now()), lead_(host::lead_of_clock()) {}

void SystemUsage::add_to(Ending& ending, const mpi::Communicator& world) const {
  const auto processors = static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
  const auto ticks_per_s = static_cast<double>(sysconf(_SC_CLK_TCK));
  const double stolen_s = static_cast<double>(host::stolen_ticks().value_or(0) - stolen_) / ticks_per_s;
  const std::pair own{100 * stolen_s / ((now() - began_) * processors), host::host_name()};
  const std::vector<std::pair<double, std::string>> all = gather_on_first(world, own);
  const auto most = std::max_element(all.begin(), all.end());
  if (most != all.end()) ending.stolen_percent = most->first;
  const auto peak = static_cast<std::int64_t>(host::peak_resident_bytes().value_or(0));
  ending.peak_memory_bytes = static_cast<std::uint64_t>(world.max(peak));
  const std::pair leap{std::abs(host::lead_of_clock() - lead_),
                       host::name_of_process(mpi::launch_from_environment().rank, host::host_name())};
  const std::vector<std::pair<Seconds, std::string>> leaps = gather_on_first(world, leap);
  if (!leaps.empty()) judge_clock(ending, *std::max_element(leaps.begin(), leaps.end()));
  if (ending.stolen_percent.value_or(0) < 1) return;
  ending.notes.push_back(fmt::format("CPU steal on {} was {:.1f} %", most->second, *ending.stolen_percent));
}

}  // namespace fabricbench
