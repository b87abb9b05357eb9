
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/core/bandwidth.h"
#include "common/record/columns.h"
#include "common/record/json.h"
#include "common/record/row.h"
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
      options.nccl.threads, options.nccl.gpus, sizes.min_bytes, sizes.max_bytes,
      factor ? sizes.step_factor : sizes.step_bytes, factor ? "factor" : "bytes", options.warmup,
      options.iterations ? fmt::to_string(*options.iterations) : "auto", options.aggregated, options.checks,
      options.nccl.graph_launches, options.unalign);
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
  const int width = options.output.timestamps ? 19 : 0;
  std::string text = "#\n" + line("", "", "", "", "") + places;
  text += line("size", "count", "type", "redop", "root") + titles + titles +
          fmt::format(" {:>{}}\n", options.output.timestamps ? "timestamp" : "", width);
  return text + line("(B)", "(elements)", "", "", "") + units + units +
         fmt::format(" {:>{}}\n", options.output.timestamps ? "%Y-%m-%d %H:%M:%S" : "", width);
}

/// What a time of the table means.
std::string conventions_text(const Options& options) {
  std::string over_ranks = aggregate_text(options.average);
  if (options.like != ReferenceTool::kNcclTests) return over_ranks;
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

/// Prints the table of nccl-tests 2.19 byte for byte: 13 fields per row, and two closing lines with `Out of bounds
/// values` and `Avg bus bandwidth`. All other lines are marked with `#` and avoid the words that parsers look for
/// (docs/output.md).
class TableSink final : public Table {
 public:
  using Table::Table;

  void begin(const Context& context) override {
    context_ = context;
    const Options& options = context.options;
    std::string text;
    if (!options.output.quiet) {
      text += starting_lines(context) + settings_line(options);
      text += method_lines(context, conventions_text(options)) + device_lines(context) + notice_lines(context);
    }
    output_.write(text + header(options));
  }
  void record(const AnyRecord& record) override {
    if (const auto* row = record.as<Row>()) add(*row);
  }
  void end(const Ending& ending) override {
    const char* verdict = !ending.fast_enough ? "" : *ending.fast_enough ? "OK" : "FAILED";
    std::string text = wrong_line(ending);
    text += fmt::format("# {:<20} : {:g} {}\n", "Avg bus bandwidth", ending.average_busbw.value_or(0) / 1e9, verdict);
    output_.write(text +
                  concluding_lines(context_, ending,
                                   context_.options.output.stats ? statistics_table(context_, rows_) : std::string()));
    rows_.clear();
  }

 private:
  void add(const Row& row) {
    const Options& options = context_.options;
    if (!row.skipped.empty()) {
      output_.write(skipped_line(row, context_.row_kind));
      return;
    }
    std::string text;
    text += cut_short_line(row.cut_short);
    if (context_.groups.size() > 1 && row.group != group_shown_) text += group_line(context_, row.group);
    group_shown_ = row.group;
    text += row_start(row) + placement_columns(row.out_of_place, options) + placement_columns(row.in_place, options);
    if (options.output.timestamps) text += fmt::format("{:>21}", timestamp(row.finished));
    output_.write(text + "\n" + traffic_lines(row));
    if (options.output.stats) rows_.push_back(row);
  }
  int group_shown_ = -1;
  std::vector<Row> rows_;  // kept only if --stats will print them
};

using record::field;
using record::Json;
using record::positive;
using record::Shown;
using record::TextColumn;
using record::TextTable;
using record::to_json;

constexpr std::string_view kUnknown = "N/A";

/// The bandwidth if the copy took the time in the field `time`; for both ways, the time is that of both directions.
Shown rate_at(std::string_view time) {
  return [time = positive(field(time))](const Json& row) -> Json {
    const Json at = time(row);
    if (at.is_null()) return nullptr;
    return row.at("bandwidth_gb_per_s").get<double>() * row.at("time_us_median").get<double>() / at.get<double>();
  };
}

/// The other end: host memory on a NUMA node, or the receiving GPU.
std::string with(const CopyRow& row) {
  if (row.peer) return fmt::format("GPU {}{}", row.peer->device, row.over_host ? "*" : "");
  return row.memory_node ? fmt::format("node {}", *row.memory_node) : "-";
}

std::vector<TextColumn> copy_columns() {
  return {{"size", "(B)", 12, field("/size_bytes")},
          {"host", "", 16, field("/host")},
          {"GPU", "", 3, field("/gpu/device")},
          {"PCI", "", 12, field("/gpu/pci")},
          {"copy", "", 5, field("/short_name")},
          {"with", "", 8, field("/with")},
          {"time", "(us)", 9, field("/time_us_median")},
          {"GB/s", "", 8, positive(field("/bandwidth_gb_per_s")), kUnknown},
          {"low", "(GB/s)", 8, rate_at("/time_us_interval/high_us")},
          {"high", "(GB/s)", 8, rate_at("/time_us_interval/low_us")},
          {"->", "(GB/s)", 8, field("/directions_gb_per_s/0")},
          {"<-", "(GB/s)", 8, field("/directions_gb_per_s/1")},
          {"bound", "(GB/s)", 8, field("/bound_gb_per_s"), kUnknown},
          {"%bound", "", 6, field("/of_bound"), kUnknown},
          {"%others", "", 7, field("/of_others"), kUnknown},
          {"#wrong", "", 6, field("/wrong_elements"), kUnknown}};
}

/// Whole percent; null if unknown.
Json percent(double share) { return share > 0 ? Json(fmt::format("{:.0f}", share * 100)) : Json(); }

std::string copy_line(const TextTable& table, const CopyRow& row) {
  Json shown = to_json(row);
  shown["short_name"] = short_name(row.kind);
  shown["with"] = with(row);
  shown["of_bound"] = percent(row.of_bound());
  shown["of_others"] = percent(row.of_others());
  return table.line(shown);
}

std::string copy_settings_line(const Options& options) {
  const SizeRange& sizes = options.sizes;
  return fmt::format("# Sizes: {} to {} bytes, step: {}({}); warmup iters: {}; iters: {}; checks: {}\n",
                     sizes.min_bytes, sizes.max_bytes, sizes.step_factor > 1 ? sizes.step_factor : sizes.step_bytes,
                     sizes.step_factor > 1 ? "factor" : "bytes", options.warmup,
                     options.iterations ? fmt::to_string(*options.iterations) : "auto", options.checks);
}

std::string method_line(const Context& context) {
  const Options& options = context.options;
  const std::string how = options.iterations ? fmt::format("{} copies each, in order", *options.iterations)
                                             : fmt::format("{} epochs, copies at random", options.epochs);
  return fmt::format(
      "# Method: {}; seed: {}; the GPUs of a host one after the other, hosts at the same time; times are "
      "the GPU's\n",
      how, context.seed);
}

/// Prints copies: a row for each, GPU by GPU, and all other lines marked with `#`.
class CopyTableSink final : public Table {
 public:
  explicit CopyTableSink(OutputFile output) : Table(std::move(output)), table_(copy_columns(), fitted) {}

  void begin(const Context& context) override {
    context_ = context;
    std::string text;
    if (!context.options.output.quiet) {
      text += starting_lines(context) + copy_settings_line(context.options);
      text += fmt::format("# Ranks: {}, hosts: {}; {}\n", context.ranks.size(), context.hosts, context.library);
      text += method_line(context) + notice_lines(context);
    }
    output_.write(text + "#\n" + table_.titles() + table_.units());
  }
  void record(const AnyRecord& record) override {
    if (const auto* row = record.as<CopyRow>()) add(*row);
  }
  void end(const Ending& ending) override {
    output_.write(wrong_line(ending) + odd_line() + concluding_lines(context_, ending, ""));
  }

 private:
  void add(const CopyRow& row) {
    note_status(row.host, row.gpu, row.comparison.status);
    if (row.peer && row.peer_comparison) note_status(row.host, *row.peer, row.peer_comparison->status);
    output_.write(std::string(cut_short_line(row.cut_short)) + copy_line(table_, row));
  }
  void note_status(const std::string& host, const CopyGpu& gpu, OutlierStatus status) {
    compared_ = compared_ || status == OutlierStatus::kUsual || status == OutlierStatus::kSlow;
    undecided_ = undecided_ || status == OutlierStatus::kUndecided;
    if (status != OutlierStatus::kSlow) return;
    std::string text = fmt::format("GPU {} ({}) of host {}", gpu.device, gpu.pci, host);
    if (std::find(odd_.begin(), odd_.end(), text) == odd_.end()) odd_.push_back(std::move(text));
  }
  [[nodiscard]] std::string odd_line() const {
    const char* otherwise = undecided_   ? "cannot tell: two differ, and there is no third"
                            : !compared_ ? "cannot tell: there is no other to compare with"
                                         : "none";
    return fmt::format("# {:<20} : {}\n", "Odd GPUs",
                       odd_.empty() ? otherwise : fmt::format("{}", fmt::join(odd_, ", ")));
  }

  record::TextTable table_;
  std::vector<std::string> odd_;  // names of GPUs that are slower than others
  bool compared_ = false;
  bool undecided_ = false;
};

std::vector<TextColumn> connection_columns() {
  return {{"pair", "", 6, field("/pair")},
          {"step", "", 16, field("/step")},
          {"samples", "", 8, field("/samples")},
          {"min", "(us)", 10, field("/time_us_min")},
          {"median", "(us)", 10, field("/time_us_median")},
          {"p99", "(us)", 10, field("/time_us_p99")},
          {"max", "(us)", 10, field("/time_us_max")},
          {"steps/s", "", 9, field("/step_rate_per_s")},
          {"conns", "", 8, field("/connections")},
          {"failed", "", 6, field("/failed_connections")},
          {"conns/s", "", 9, field("/connections_per_s")},
          {"messages", "", 9, field("/messages")},
          {"lost", "", 6, field("/lost_messages")},
          {"#wrong", "", 6, field("/wrong_messages")}};
}

std::string connect_settings_line(const Context& context) {
  const Options& options = context.options;
  const std::string order =
      options.rdma.parallel == 1 ? "one after the other" : fmt::format("{} at the same time", options.rdma.parallel);
  return fmt::format("# Connections: {} a pair, {}, {}; messages: {} of {} bytes each way; time limit of a step: {}\n",
                     options.rdma.connections, name(options.rdma.transport), order, options.rdma.messages,
                     options.sizes.max_bytes, readable_seconds(options.rdma.stall_timeout));
}

/// Prints connections: a row for each pair and step, and all other lines marked with `#`.
class ConnectTableSink final : public Table {
 public:
  explicit ConnectTableSink(OutputFile output) : Table(std::move(output)), table_(connection_columns(), fitted) {}

  void begin(const Context& context) override {
    context_ = context;
    std::string text;
    if (!context.options.output.quiet) {
      text += starting_lines(context) + connect_settings_line(context);
      text += fmt::format("# Ranks: {}, hosts: {}; {}; clock read: {}\n", context.ranks.size(), context.hosts,
                          context.library, readable_seconds(context.timer_cost));
      text += "# Method: pairs at the same time; times are those of the pair's first rank, which connects\n";
      text += notice_lines(context) + device_lines(context);
    }
    output_.write(text + "#\n" + table_.titles() + table_.units());
  }
  void record(const AnyRecord& record) override {
    const auto* row = record.as<ConnectRow>();
    if (row == nullptr) return;
    std::string text;
    if (!context_.options.output.quiet) text += group_line(context_, row->pair);
    for (const ConnectTimes& times : row->steps) text += table_.line(to_json(ConnectionStep{*row, times}));
    output_.write(text);
  }
  void end(const Ending& ending) override {
    output_.write(wrong_line(ending) + concluding_lines(context_, ending, ""));
  }

 private:
  record::TextTable table_;
};

}  // namespace

std::unique_ptr<Sink> make_table(RowKind row_kind, const Options& options, OutputFile output, bool colour) {
  if (row_kind == RowKind::kCollective) return std::make_unique<TableSink>(std::move(output));
  if (row_kind == RowKind::kSweep) return make_sweep_table(std::move(output), colour);
  if (row_kind == RowKind::kCopies) return std::make_unique<CopyTableSink>(std::move(output));
  if (row_kind == RowKind::kPreflight) return make_preflight_table(std::move(output));
  if (row_kind == RowKind::kConnections) return std::make_unique<ConnectTableSink>(std::move(output));
  if (options.rdma.perftest_table) return make_perftest_table(std::move(output));
  return make_pair_table(std::move(output));
}

}  // namespace fabricbench
