#include "common/report/table.h"

#include <array>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/core/version.h"

namespace fabricbench {
namespace {

constexpr const char* kTimeFormat = "{:%Y-%m-%d %H:%M:%S}";

std::string timestamp(std::time_t time) { return fmt::format(fmt::runtime(kTimeFormat), fmt::localtime(time)); }

/// The line of settings as nccl-tests words it.
std::string settings_line(const Options& options) {
  const Sweep& sweep = options.sweep;
  const bool factor = sweep.step_factor > 1;
  return fmt::format(
      "# nThread {} nGpus {} minBytes {} maxBytes {} step: {}({}) warmup iters: {} iters: {} agg iters: {} "
      "validation: {} graph: 0 unalign: {}\n",
      options.threads, options.gpus, sweep.min_bytes, sweep.max_bytes, factor ? sweep.step_factor : sweep.step_bytes,
      factor ? "factor" : "bytes", options.warmup, options.iterations ? fmt::to_string(*options.iterations) : "auto",
      options.aggregated, options.checks, options.unalign);
}

std::string method_lines(const Context& context) {
  const Options& options = context.options;
  const std::string clock = context.clock_error > 0 ? readable_seconds(context.clock_error) : "0 (one clock)";
  std::string text =
      fmt::format("# Backend: {}, because {}; {}\n", context.backend, context.backend_reason, context.library);
  text += fmt::format("# Ranks: {}, hosts: {}; timing: {}; buffers: {}; clock error: {}; clock read: {}; seed: {}\n",
                      context.ranks.size(), context.hosts, name(options.timing), name(options.buffers), clock,
                      readable_seconds(context.timer_cost), context.seed);
  if (options.iterations) {
    text += fmt::format("# Method: {} iterations a size, sizes in order; ", *options.iterations);
  } else {
    text += fmt::format("# Method: at least {} epochs a size, sizes {}; ", options.epochs,
                        options.order == Order::kSequential ? "in order" : "at random");
  }
  constexpr std::array<const char*, 4> kAggregates = {"time of rank 0", "mean over ranks", "minimum over ranks",
                                                      "maximum over ranks"};
  return text + fmt::format("{}\n", kAggregates[static_cast<std::size_t>(options.average)]);
}

std::string device_lines(const Context& context) {
  std::string text = "#\n# Using devices\n";
  for (const RankFacts& rank : context.ranks) {
    text += fmt::format("#  Rank {:2} Group {:2} Pid {:6} on {:>10} device {:2} [host] {}\n", rank.rank, 0, rank.pid,
                        rank.host, rank.local_rank, rank.processor);
  }
  return text;
}

std::string header(bool cpu_time, bool timestamps) {
  constexpr const char* kTitles =
      "# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}           out-of-place                       in-place          \n";
  constexpr const char* kColumns =
      "# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}  {:>7}  {:>6}  {:>6}  {:>6}  {:>7}  {:>6}  {:>6}  {:>6} {:>{}}\n";
  const char* time = cpu_time ? "cputime" : "time";
  const int width = timestamps ? 19 : 0;
  std::string text = fmt::format(fmt::runtime(kTitles), "", "", "", "", "");
  text += fmt::format(fmt::runtime(kColumns), "size", "count", "type", "redop", "root", time, "algbw", "busbw",
                      "#wrong", time, "algbw", "busbw", "#wrong", timestamps ? "timestamp" : "", width);
  text += fmt::format(fmt::runtime(kColumns), "(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "(us)",
                      "(GB/s)", "(GB/s)", "", timestamps ? "%Y-%m-%d %H:%M:%S" : "", width);
  return "#\n" + text;
}

std::string placement_columns(const std::optional<Measurement>& measured, bool cpu_time) {
  constexpr const char* kColumns = "  {:>7}  {:>6}  {:>6}  {:>6}";
  if (!measured) return fmt::format(fmt::runtime(kColumns), "N/A", "N/A", "N/A", "N/A");
  const Seconds time = cpu_time ? measured->cpu_time : measured->summary.median;
  const std::string wrong = measured->wrong ? fmt::format("{:g}", static_cast<double>(*measured->wrong)) : "N/A";
  return fmt::format(fmt::runtime(kColumns), fitted(time * 1e6, 7), fitted(measured->algbw / 1e9, 6),
                     fitted(measured->busbw / 1e9, 6), wrong);
}

std::string microseconds(const std::optional<Seconds>& time) { return time ? fitted(*time * 1e6, 9) : "-"; }

std::string statistics_line(const Row& row, const char* placement, const Measurement& measured) {
  const Summary& summary = measured.summary;
  const auto& interval = summary.interval;
  return fmt::format(
      "# {:>12}  {:>9}  {:>6}  {:>5}  {:>6}  {:>7}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>5}  "
      "{:>5}  {:>6.1f}  "
      "{:>5.2f}  {:>7}  {:>10}\n",
      row.size, facts(row.datatype).name, name(row.reduction), placement, summary.epochs, summary.samples,
      microseconds(summary.median), microseconds(interval ? std::optional(interval->low) : std::nullopt),
      microseconds(interval ? std::optional(interval->high) : std::nullopt), microseconds(summary.min),
      microseconds(summary.p95), microseconds(summary.p99), microseconds(summary.p999), microseconds(summary.max),
      summary.outliers, summary.late, summary.drift * 100, summary.autocorrelation,
      fmt::format("{}@{}", summary.preemptions, summary.most_preempted_rank),
      fmt::format("{} ({:.0f}%)", summary.slowest_rank, summary.slowest_share * 100));
}

std::string statistics_table(const std::vector<Row>& rows) {
  std::string text = fmt::format(
      "#\n# Statistics: times in us of one operation; low and high: 95 % interval of the median; preempt: involuntary "
      "context switches@rank with most\n"
      "# {:>12}  {:>9}  {:>6}  {:>5}  {:>6}  {:>7}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>5}  "
      "{:>5}  {:>6}  "
      "{:>5}  {:>7}  {:>10}\n",
      "size", "type", "redop", "place", "epochs", "samples", "median", "low", "high", "min", "p95", "p99", "p99.9",
      "max", "out", "late", "drift%", "corr", "preempt", "slowest");
  for (const Row& row : rows) {
    if (row.out_of_place) text += statistics_line(row, "out", *row.out_of_place);
    if (row.in_place) text += statistics_line(row, "in", *row.in_place);
  }
  return text;
}

}  // namespace

void TableSink::begin(const Context& context) {
  const Options& options = context.options;
  program_ = context.program;
  quiet_ = options.quiet;
  stats_ = options.stats;
  timestamps_ = options.timestamps;
  cpu_time_ = options.report_cpu_time;
  std::string text;
  if (!quiet_) {
    text += fmt::format("# fabricbench version {}\n# Collective test starting: {}\n", kVersion, program_);
    text += settings_line(options) + method_lines(context) + device_lines(context);
    for (const std::string& notice : context.notices) text += fmt::format("#\n# {}\n", notice);
  }
  output_.write(text + header(cpu_time_, timestamps_));
}

void TableSink::row(const Row& row) {
  const std::string_view reduction = row.reduction == Reduction::kNone ? "none" : name(row.reduction);
  std::string line = fmt::format("{:>12}  {:>12}  {:>8}  {:>6}  {:>6}", row.size, row.count, facts(row.datatype).name,
                                 reduction, row.root);
  line += placement_columns(row.out_of_place, cpu_time_) + placement_columns(row.in_place, cpu_time_);
  if (timestamps_) line += fmt::format("{:>21}", timestamp(row.finished));
  output_.write(line + "\n");
  if (stats_) rows_.push_back(row);
}

void TableSink::end(const Ending& ending) {
  const char* verdict = !ending.fast_enough ? "" : *ending.fast_enough ? "OK" : "FAILED";
  std::string text = fmt::format("# {:<20} : {} {}\n", "Out of bounds values", ending.wrong_checks,
                                 ending.wrong_checks == 0 ? "OK" : "FAILED");
  text += fmt::format("# {:<20} : {:g} {}\n", "Avg bus bandwidth", ending.average_busbw / 1e9, verdict);
  if (!quiet_) {
    text += "#\n";
    for (const std::string& note : ending.notes) text += fmt::format("# Note: {}\n", note);
    text += fmt::format("# {}\n", ending.precision);
  }
  if (stats_) text += statistics_table(rows_);
  if (!quiet_) {
    text += fmt::format("#\n# Collective test concluded: {}\n#\n\n", program_);
  }
  output_.write(text);
  rows_.clear();
}

std::string fitted(double value, int width) {
  for (const int decimals : {2, 1, 0}) {
    std::string text = fmt::format("{:.{}f}", value, decimals);
    if (text.size() <= static_cast<std::size_t>(width)) return text;
  }
  return fmt::format("{:.{}e}", value, width >= 7 ? 1 : 0);
}

}  // namespace fabricbench
