#include "common/report/tables.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "common/core/bandwidth.h"
#include "common/report/banner.h"

namespace fabricbench {
namespace {

/// The settings in nccl-tests' form.
std::string settings_line(const Options& options) {
  const SizeRange& sizes = options.sizes;
  const bool factor = sizes.step_factor > 1;
  return fmt::format(
      "# nThread {} nGpus {} minBytes {} maxBytes {} step: {}({}) warmup iters: {} iters: {} agg iters: {} "
      "validation: {} graph: {} unalign: {}\n",
      options.threads, options.gpus, sizes.min_bytes, sizes.max_bytes, factor ? sizes.step_factor : sizes.step_bytes,
      factor ? "factor" : "bytes", options.warmup, options.iterations ? fmt::to_string(*options.iterations) : "auto",
      options.aggregated, options.checks, options.graph_launches, options.unalign);
}

/// How the ranks' times are combined.
const char* aggregate_text(RankAggregate average) {
  constexpr std::array<const char*, 4> kAggregates = {"time of rank 0", "mean over ranks", "minimum over ranks",
                                                      "maximum over ranks"};
  return kAggregates[static_cast<std::size_t>(average)];
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

/// What a time of the table means.
std::string conventions_text(const Options& options) {
  std::string over_ranks = aggregate_text(options.average);
  if (options.like != Like::kNcclTests) return over_ranks;
  return fmt::format("{}; measured as by nccl-tests: the host's clock, its final wait included", over_ranks);
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
  const std::optional<Seconds> time = options.report_cpu_time ? measured->cpu_time : measured->summary.median;
  return fmt::format(fmt::runtime(kColumns), time ? fitted(*time * 1e6, 7) : "N/A", fitted(measured->algbw / 1e9, 6),
                     fitted(measured->busbw / 1e9, 6), wrong_text(*measured)) +
         each;
}

std::string row_start(const Row& row) {
  return fmt::format("{:>12}  {:>12}  {:>8}  {:>6}  {:>6}", row.size, row.count, facts(row.datatype).name,
                     name(row.reduction), row.root);
}

/// Each rank's sent and received bytes, if the row has them.
std::string traffic_lines(const Row& row) {
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

}  // namespace

std::unique_ptr<Sink> make_table(Figure figure, const Options& options, OutputFile output, bool colour) {
  if (figure == Figure::kCollective) return std::make_unique<TableSink>(std::move(output));
  if (figure == Figure::kSweep) return std::make_unique<SweepTableSink>(std::move(output), colour);
  if (figure == Figure::kCopies) return std::make_unique<CopyTableSink>(std::move(output));
  if (figure == Figure::kConnections) return std::make_unique<ConnectTableSink>(std::move(output));
  if (options.rdma.perftest_table) return std::make_unique<PerftestTableSink>(std::move(output));
  return std::make_unique<PairTableSink>(std::move(output));
}

void TableSink::begin(const Context& context) {
  context_ = context;
  const Options& options = context.options;
  std::string text;
  if (!options.quiet) {
    text += starting_lines(context) + settings_line(options);
    text += method_lines(context, conventions_text(options)) + device_lines(context) + notice_lines(context);
  }
  output_.write(text + header(options));
}

void TableSink::record(const AnyRecord& record) {
  if (const auto* row = record.as<Row>()) add(*row);
}

void TableSink::add(const Row& row) {
  const Options& options = context_.options;
  if (!row.skipped.empty()) {
    output_.write(skipped_line(row, context_.figure));
    return;
  }
  std::string text;
  if (row.cut_short && !std::exchange(is_cut_short_, true)) text += kCutShortLine;
  if (context_.groups.size() > 1 && row.group != group_shown_) text += group_line(context_, row.group);
  group_shown_ = row.group;
  text += row_start(row) + placement_columns(row.out_of_place, options) + placement_columns(row.in_place, options);
  if (options.timestamps) text += fmt::format("{:>21}", timestamp(row.finished));
  output_.write(text + "\n" + traffic_lines(row));
  if (options.stats) rows_.push_back(row);
}

void TableSink::abandon(const Ending& ending) { output_.write(ended_early_line(context_, ending)); }

void TableSink::end(const Ending& ending) {
  const char* verdict = !ending.fast_enough ? "" : *ending.fast_enough ? "OK" : "FAILED";
  std::string text = wrong_line(ending);
  text += fmt::format("# {:<20} : {:g} {}\n", "Avg bus bandwidth", ending.average_busbw.value_or(0) / 1e9, verdict);
  output_.write(text + concluding_lines(context_, ending,
                                        context_.options.stats ? statistics_table(context_, rows_) : std::string()));
  rows_.clear();
}

}  // namespace fabricbench
