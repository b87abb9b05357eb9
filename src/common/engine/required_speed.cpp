#include "common/engine/required_speed.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "common/core/wording.h"
#include "common/report/banner.h"

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
  return context.figure == Figure::kCollective && context.groups.size() == 1;
}

/// The pair, or one of several groups, at the beginning of a sentence.
std::string named_group(const Context& context, int group) {
  if (context.figure != Figure::kCollective) return named_pair(context, group);
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
    if (context_.figure == Figure::kLatency) {
      not_judged_.emplace_back("--min-bw is for programs that end in _bw; use --max-lat with this one");
      return;
    }
    if (totals_.measurements() == 0) return;
    const bool like_nccl_tests = context_.options.like == Like::kNcclTests;
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
                                    context_.figure == Figure::kCollective ? " busbw" : "", of_group, average,
                                    like_nccl_tests ? fmt::format("{} of ", kTolerated) : "", required));
  }

  void judge_latency() {
    if (required_.max_latency <= 0) return;
    if (context_.figure != Figure::kLatency) {
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
    if (context_.figure == Figure::kLatency) {
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
  if (context.figure == Figure::kLatency) return lines;
  for (int pair = 0; pair < static_cast<int>(context.groups.size()); ++pair) {
    if (!has_wrong_rate(totals, context, pair)) continue;
    const GroupFacts& facts = context.groups[static_cast<std::size_t>(pair)];
    const auto most = totals.most_bandwidth(pair);
    lines.push_back(fmt::format(
        "{} had {:.4g} GB/s in one direction at {} bytes, which is more than the {:.4g} GB/s of {}: its rate is wrong "
        "(drivers report 4X QDR for modes that they do not know, and bonds differ), or the data did not cross the "
        "port; %rate is unknown",
        named_pair(context, pair), one_way(context.figure, most->algbw) / 1e9, most->size, facts.wire_rate / 1e9,
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

}  // namespace fabricbench
