#include "common/report/table.h"

#include <algorithm>
#include <array>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/core/bandwidth.h"
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
      "validation: {} graph: {} unalign: {}\n",
      options.threads, options.gpus, sweep.min_bytes, sweep.max_bytes, factor ? sweep.step_factor : sweep.step_bytes,
      factor ? "factor" : "bytes", options.warmup, options.iterations ? fmt::to_string(*options.iterations) : "auto",
      options.aggregated, options.checks, options.graph_launches, options.unalign);
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

/// The part of a PCI address that nccl-tests prints: 0000:42:00 of 0000:42:00.0.
std::string pci_text(const GpuFacts& gpu) { return gpu.pci.substr(0, gpu.pci.rfind('.')); }

std::string gpu_line(const RankFacts& rank) {
  const GpuFacts& gpu = *rank.gpu;
  std::string node = "NUMA node unknown";
  if (gpu.numa_node) {
    node = fmt::format("NUMA node {}, process there: {}", *gpu.numa_node, gpu.process_on_node);
  }
  return fmt::format("#    Rank {}: driver {}; {}; nearest NICs: {}\n", rank.rank, gpu.driver, node,
                     gpu.nearest_nics.empty() ? "none seen" : fmt::format("{}", fmt::join(gpu.nearest_nics, ", ")));
}

std::string device_lines(const Context& context) {
  std::string text = "#\n# Using devices\n";
  for (const RankFacts& rank : context.ranks) {
    text += fmt::format("#  Rank {:2} Group {:2} Pid {:6} on {:>10} device {:2} [{}] {}\n", rank.rank, rank.group,
                        rank.pid, rank.host, rank.gpu ? rank.gpu->device : rank.local_rank,
                        rank.gpu ? pci_text(*rank.gpu) : "host", rank.gpu ? rank.gpu->model : rank.processor);
  }
  for (const RankFacts& rank : context.ranks) {
    if (rank.gpu) text += gpu_line(rank);
  }
  return text;
}

/// The three lines above the rows, as nccl-tests 2.19 prints them.
std::string header(const Options& options) {
  const bool each = options.per_iteration;
  const char* time = options.report_cpu_time ? "cputime" : "time";
  const auto columns = [&](const auto&... texts) { return fmt::format("  {:>7}  {:>6}  {:>6}  {:>6}", texts...); };
  const auto more = [&](const auto&... texts) {
    return each ? fmt::format("  {:>7}  {:>7}  {:>7}  {:>7}", texts...) : std::string();
  };
  const auto line = [&](const auto&... texts) {
    return fmt::format("# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}", texts...);
  };
  const std::string titles = columns(time, "algbw", "busbw", "#wrong") + more("i_min", "i_max", "i_p99", "i_cv%");
  const std::string units = columns("(us)", "(GB/s)", "(GB/s)", "") + more("(us)", "(us)", "(us)", "(%)");
  const char* places = each ? "              out-of-place (+ per-iteration)                                in-place (+ "
                              "per-iteration)\n"
                            : "           out-of-place                       in-place          \n";
  const int width = options.timestamps ? 19 : 0;
  std::string text = "#\n" + line("", "", "", "", "") + places;
  text += line("size", "count", "type", "redop", "root") + titles + titles +
          fmt::format(" {:>{}}\n", options.timestamps ? "timestamp" : "", width);
  return text + line("(B)", "(elements)", "", "", "") + units + units +
         fmt::format(" {:>{}}\n", options.timestamps ? "%Y-%m-%d %H:%M:%S" : "", width);
}

std::string iteration_columns(const std::optional<Measurement>& measured) {
  constexpr const char* kColumns = "  {:>7}  {:>7}  {:>7}  {:>7}";
  if (!measured || !measured->iteration_times) return fmt::format(fmt::runtime(kColumns), "N/A", "N/A", "N/A", "N/A");
  const IterationTimes& times = *measured->iteration_times;
  return fmt::format(fmt::runtime(kColumns), fitted(times.min * 1e6, 7), fitted(times.max * 1e6, 7),
                     fitted(times.p99 * 1e6, 7), fitted(times.variation_percent, 7));
}

std::string placement_columns(const std::optional<Measurement>& measured, const Options& options) {
  constexpr const char* kColumns = "  {:>7}  {:>6}  {:>6}  {:>6}";
  const std::string each = options.per_iteration ? iteration_columns(measured) : "";
  if (!measured) return fmt::format(fmt::runtime(kColumns), "N/A", "N/A", "N/A", "N/A") + each;
  const Seconds time = options.report_cpu_time ? measured->cpu_time : measured->summary.median;
  const std::string wrong = measured->wrong ? fmt::format("{:g}", static_cast<double>(*measured->wrong)) : "N/A";
  return fmt::format(fmt::runtime(kColumns), fitted(time * 1e6, 7), fitted(measured->algbw / 1e9, 6),
                     fitted(measured->busbw / 1e9, 6), wrong) +
         each;
}

std::string row_start(const Row& row) {
  return fmt::format("{:>12}  {:>12}  {:>8}  {:>6}  {:>6}", row.size, row.count, facts(row.datatype).name,
                     name(row.reduction), row.root);
}

std::string microseconds(const std::optional<Seconds>& time) { return time ? fitted(*time * 1e6, 9) : "-"; }

/// `RING/SIMPLE/16`; a dash where the library did not tell.
std::string choice_text(const std::optional<LibraryChoice>& choice) {
  if (!choice) return "-";
  const std::string channels = choice->channels > 0 ? fmt::format("/{}", choice->channels) : "";
  return fmt::format("{}/{}{}", choice->algorithm, choice->protocol, channels);
}

std::string statistics_line(const Row& row, const char* placement, const Measurement& measured,
                            const std::string& slowest_host) {
  const Summary& summary = measured.summary;
  const auto& interval = summary.interval;
  return fmt::format(
      "# {:>12}  {:>9}  {:>6}  {:>5}  {:>6}  {:>7}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>5}  "
      "{:>5}  {:>6.1f}  {:>5.2f}  {:>7}  {:>16}  {} ({:.0f}%) {}\n",
      row.size, facts(row.datatype).name, name(row.reduction), placement, summary.epochs, summary.samples,
      microseconds(summary.median), microseconds(interval ? std::optional(interval->low) : std::nullopt),
      microseconds(interval ? std::optional(interval->high) : std::nullopt), microseconds(summary.min),
      microseconds(summary.p95), microseconds(summary.p99), microseconds(summary.p999), microseconds(summary.max),
      summary.outliers, summary.late, summary.drift * 100, summary.autocorrelation,
      fmt::format("{}@{}", summary.preemptions, summary.most_preempted_rank), choice_text(measured.choice),
      summary.slowest_rank, summary.slowest_share * 100, slowest_host);
}

constexpr const char* kStatisticsTitle =
    "#\n# Statistics: times in us of one operation; low and high: 95 % interval of the median; preempt: involuntary "
    "context switches@rank with most; chosen: the library's algorithm/protocol/channels\n";

std::string statistics_header() {
  return kStatisticsTitle +
         fmt::format(
             "# {:>12}  {:>9}  {:>6}  {:>5}  {:>6}  {:>7}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  "
             "{:>9}  {:>5}  {:>5}  {:>6}  {:>5}  {:>7}  {:>16}  {}\n",
             "size", "type", "redop", "place", "epochs", "samples", "median", "low", "high", "min", "p95", "p99",
             "p99.9", "max", "out", "late", "drift%", "corr", "preempt", "chosen", "slowest rank");
}

}  // namespace

void TableSink::begin(const Context& context) {
  context_ = context;
  const Options& options = context.options;
  std::string text;
  if (!options.quiet) {
    text += fmt::format("# fabricbench version {}\n# Collective test starting: {}\n", kVersion, context.program);
    text += settings_line(options) + method_lines(context) + device_lines(context);
    for (const std::string& notice : context.notices) text += fmt::format("#\n# {}\n", notice);
  }
  output_.write(text + header(options));
}

void TableSink::row(const Row& row) {
  const Options& options = context_.options;
  if (!row.skipped.empty()) {
    output_.write(fmt::format("# skipped: {} bytes, {} {}: {}\n", row.size, facts(row.datatype).name,
                              name(row.reduction), row.skipped));
    return;
  }
  std::string text = group_line(row.group);
  text += row_start(row) + placement_columns(row.out_of_place, options) + placement_columns(row.in_place, options);
  if (options.timestamps) text += fmt::format("{:>21}", timestamp(row.finished));
  output_.write(text + "\n" + traffic_lines(row));
  if (options.stats) rows_.push_back(row);
}

std::string TableSink::traffic_lines(const Row& row) const {
  std::string text;
  const Seconds time = row.out_of_place ? row.out_of_place->summary.median : 0;
  for (std::size_t rank = 0; rank < row.traffic.size(); ++rank) {
    const RankTraffic& traffic = row.traffic[rank];
    const auto most = static_cast<double>(std::max(traffic.sent, traffic.received));
    text += fmt::format("#   rank={} send_bytes={} recv_bytes={} alg_bw={:.2f}\n", rank, traffic.sent, traffic.received,
                        algorithm_bandwidth(most, time) / 1e9);
  }
  return text;
}

/// Where there are several groups, a line above those rows that follow another group's.
std::string TableSink::group_line(int group) {
  if (context_.groups.size() < 2 || group == group_shown_) return "";
  group_shown_ = group;
  const GroupFacts& facts = context_.groups[static_cast<std::size_t>(group)];
  return fmt::format("# Group {}: ranks {}; hosts {}\n", group, facts.ranks, facts.hosts);
}

std::string TableSink::host_of(int group, int group_rank) const {
  for (const RankFacts& rank : context_.ranks) {
    if (rank.group == group && rank.group_rank == group_rank) return rank.host;
  }
  return "";
}

std::string TableSink::statistics_table() {
  std::string text = statistics_header();
  group_shown_ = -1;
  for (const Row& row : rows_) {
    text += group_line(row.group);
    for (const bool in_place : {false, true}) {
      const auto& measured = in_place ? row.in_place : row.out_of_place;
      if (!measured) continue;
      text +=
          statistics_line(row, in_place ? "in" : "out", *measured, host_of(row.group, measured->summary.slowest_rank));
    }
  }
  return text;
}

void TableSink::end(const Ending& ending) {
  const Options& options = context_.options;
  const char* verdict = !ending.fast_enough ? "" : *ending.fast_enough ? "OK" : "FAILED";
  std::string text = fmt::format("# {:<20} : {} {}\n", "Out of bounds values", ending.wrong_checks,
                                 ending.wrong_checks == 0 ? "OK" : "FAILED");
  text += fmt::format("# {:<20} : {:g} {}\n", "Avg bus bandwidth", ending.average_busbw / 1e9, verdict);
  if (!options.quiet) {
    text += "#\n";
    for (const std::string& note : ending.notes) text += fmt::format("# Note: {}\n", note);
    for (const std::string& line : ending.wires) text += fmt::format("# {}\n", line);
    text += fmt::format("# {}\n", ending.precision);
  }
  if (options.stats) text += statistics_table();
  if (!options.quiet) text += fmt::format("#\n# Collective test concluded: {}\n", context_.program);
  if (!ending.memory_usage.empty()) text += fmt::format("# {:<20} : {}\n", "GPU memory usage", ending.memory_usage);
  if (!options.quiet) text += "#\n\n";
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
