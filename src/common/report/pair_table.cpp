#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/core/options.h"
#include "common/core/statistics.h"
#include "common/record/columns.h"
#include "common/record/context.h"
#include "common/record/json.h"
#include "common/record/row.h"
#include "common/record/sweep_plan.h"
#include "common/report/banner.h"
#include "common/report/output_file.h"
#include "common/report/sink.h"
#include "common/report/sweep_facts.h"

namespace fabricbench {
namespace {

using record::field;
using record::Json;
using record::positive;
using record::scaled;
using record::Shown;
using record::TextColumn;
using record::to_json;

constexpr std::size_t kPairsInBanner = 64;
constexpr std::size_t kMostRows = 32;  // per size; with more pairs, only the worst are shown
constexpr std::size_t kWorstRows = 8;

/// A field of the out-of-place measurement.
Shown measured(std::string_view key) { return field(fmt::format("/out_of_place/{}", key)); }

/// The bandwidth if a message took the time in the field `key`.
Shown bandwidth_at(std::string_view key) {
  return [bandwidth = measured("algbw_gb_per_s"), median = measured("time_us_median"),
          time = positive(measured(key))](const Json& row) -> Json {
    const Json at = time(row);
    if (at.is_null()) return nullptr;
    return bandwidth(row).get<double>() * median(row).get<double>() / at.get<double>();
  };
}

/// The messages of one direction; null of a row that is cut short, whose epochs do not count them.
Json messages(const Json& row) {
  const Json& of_row = row.at("out_of_place");
  const Json& of_sample = of_row.at("operations_per_sample");
  if (of_sample.is_null()) return nullptr;
  return of_row.at("samples").get<std::int64_t>() * of_sample.get<std::int64_t>();
}

std::vector<TextColumn> latency_columns() {
  return {{"samples", "", 8, measured("samples")},
          {"median", "(us)", 9, measured("time_us_median")},
          {"low", "(us)", 9, measured("time_us_interval/low_us")},
          {"high", "(us)", 9, measured("time_us_interval/high_us")},
          {"min", "(us)", 9, measured("time_us_min")},
          {"p99", "(us)", 9, measured("time_us_p99")},
          {"p99.9", "(us)", 9, measured("time_us_p999")},
          {"max", "(us)", 9, measured("time_us_max")},
          {"jitter", "(us)", 9, measured("jitter_us")}};
}

/// A slow message is a low bandwidth, so the interval's ends are swapped.
std::vector<TextColumn> bandwidth_columns() {
  return {{"messages", "", 9, messages},
          {"time", "(us)", 9, measured("time_us_median")},
          {"GB/s", "", 8, measured("algbw_gb_per_s")},
          {"low", "(GB/s)", 8, bandwidth_at("time_us_interval/high_us")},
          {"high", "(GB/s)", 8, bandwidth_at("time_us_interval/low_us")}};
}

std::vector<TextColumn> direction_columns() {
  return {{"->", "(GB/s)", 8, measured("directions_gb_per_s/0")},
          {"<-", "(GB/s)", 8, measured("directions_gb_per_s/1")}};
}

std::vector<TextColumn> rate_columns() {
  return {{"Gb/s", "", 8, scaled(measured("algbw_gb_per_s"), 8)},
          {"Mmsg/s", "", 9, scaled(measured("message_rate_per_s"), 1e-6)}};
}

/// TCP segments retransmitted by both ranks together, or by each of them if both send messages at once.
std::vector<TextColumn> retransmission_columns(RowKind row_kind) {
  if (row_kind == RowKind::kBothWays) {
    return {{"Retr", "->", 6, measured("retransmitted_segments/0")},
            {"Retr", "<-", 6, measured("retransmitted_segments/1")}};
  }
  const auto both = [segments = measured("retransmitted_segments")](const Json& row) -> Json {
    const Json counts = segments(row);
    if (counts.is_null()) return nullptr;
    const auto by_rank = counts.get<std::vector<std::uint64_t>>();
    return std::accumulate(by_rank.begin(), by_rank.end(), std::uint64_t{0});
  };
  return {{"Retr", "", 6, both}};
}

/// Known to users of perftest as t_avg and t_stdev.
std::vector<TextColumn> spread_columns() {
  return {{"mean", "(us)", 9, measured("time_us_mean")}, {"stdev", "(us)", 9, measured("time_us_stdev")}};
}

std::vector<TextColumn> rdma_columns(const Context& context) {
  std::vector<TextColumn> columns = {{"%rate", "", 6, field("/share_of_rate")}};
  if (context.row_kind == RowKind::kLatency) columns = spread_columns();
  if (context.options.rdma.background) columns.push_back({"load", "(GB/s)", 8, measured("background_gb_per_s")});
  if (context.options.rdma.transport == Transport::kUd) columns.push_back({"lost", "", 6, measured("lost_messages")});
  return columns;
}

void append(std::vector<TextColumn>& columns, const std::vector<TextColumn>& more) {
  columns.insert(columns.end(), more.begin(), more.end());
}

std::vector<TextColumn> columns_of(const Context& context) {
  std::vector<TextColumn> columns = {{"size", "(B)", 12, field("/size_bytes")}};
  if (context.groups.size() > 1) columns.push_back({"pair", "", 5, field("/group")});
  if (context.row_kind == RowKind::kLatency) {
    append(columns, latency_columns());
  } else {
    append(columns, bandwidth_columns());
    if (context.row_kind == RowKind::kBothWays) append(columns, direction_columns());
    append(columns, rate_columns());
  }
  if (context.backend == "tcp") append(columns, retransmission_columns(context.row_kind));
  if (context.backend == "verbs") append(columns, rdma_columns(context));
  columns.push_back({"#wrong", "", 6, measured("wrong_elements"), "N/A"});
  if (context.options.timestamps) columns.push_back({"timestamp", "", 19, field("/timestamp")});
  return columns;
}

/// The settings in the words of perftest's options; `auto` if each size or device has its own.
std::string rdma_settings(const Context& context) {
  const RdmaOptions& rdma = context.options.rdma;
  const auto text_of = [](std::int64_t value) { return value > 0 ? fmt::to_string(value) : "auto"; };
  std::string text = fmt::format("; queue pairs: {}", rdma.queue_pairs);
  if (context.row_kind != RowKind::kLatency) {
    text += fmt::format("; depth: {}; moderation: {}", depth_of(rdma, false), text_of(rdma.moderation));
    if (rdma.post_list > 1) text += fmt::format("; post list: {}", rdma.post_list);
  }
  return text + fmt::format("; inline: {}; transport: {}; mtu: {}",
                            rdma.inlined ? fmt::to_string(*rdma.inlined) : "auto", name(rdma.transport),
                            text_of(rdma.mtu));
}

std::string pair_settings_line(const Context& context) {
  const Options& options = context.options;
  const SizeRange& sizes = options.sizes;
  const bool factor = sizes.step_factor > 1;
  const bool rdma = context.backend == "verbs";
  const std::string window =
      context.row_kind == RowKind::kLatency ? "" : fmt::format("; window: {} messages", options.window);
  const std::string buffers =
      fmt::format("; buffers: {}", options.check_all ? "one for each message" : name(options.buffers));
  return fmt::format("# Sizes: {} to {} bytes, step: {}({}){}; warmup iters: {}; iters: {}; checks: {}{}\n",
                     sizes.min_bytes, sizes.max_bytes, factor ? sizes.step_factor : sizes.step_bytes,
                     factor ? "factor" : "bytes", rdma ? rdma_settings(context) : window, options.warmup,
                     options.iterations ? fmt::to_string(*options.iterations) : "auto",
                     options.check_all ? "all" : fmt::to_string(options.checks), rdma ? "" : buffers);
}

std::string_view meaning_of(const Context& context) {
  if (!context.time_means.empty()) return context.time_means;
  if (context.row_kind == RowKind::kLatency) return "half a round trip";
  return context.row_kind == RowKind::kBothWays
             ? "time of a window over its messages, the harmonic mean of both directions"
             : "time of a window over its messages";
}

std::string pair_lines(const Context& context) {
  std::string text = "#\n";
  const std::size_t shown = std::min(context.groups.size(), kPairsInBanner);
  for (std::size_t pair = 0; pair < shown; ++pair) text += group_line(context, static_cast<int>(pair));
  if (shown < context.groups.size()) text += fmt::format("# and {} more pairs\n", context.groups.size() - shown);
  return text;
}

/// Microseconds of latency, or GB/s.
double figure_of(const Row& row, RowKind row_kind) {
  const Measurement& measured = *row.out_of_place;
  return row_kind == RowKind::kLatency ? measured.summary.median * 1e6 : measured.algbw / 1e9;
}

/// Whether `a` is slower than `b`.
bool slower(const Row& a, const Row& b, RowKind row_kind) {
  const double first = figure_of(a, row_kind);
  const double second = figure_of(b, row_kind);
  return row_kind == RowKind::kLatency ? first > second : first < second;
}

const Row& slowest(std::span<const Row> rows, RowKind row_kind) {
  return *std::min_element(rows.begin(), rows.end(),
                           [&](const Row& a, const Row& b) { return slower(a, b, row_kind); });
}

/// The pairs with wrong data, then the slowest, worst first.
std::vector<Row> worst(std::vector<Row> rows, RowKind row_kind) {
  const auto is_wrong = [](const Row& row) { return row.out_of_place->wrong.value_or(0) > 0; };
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    return is_wrong(a) != is_wrong(b) ? is_wrong(a) : slower(a, b, row_kind);
  });
  rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(std::min(rows.size(), kWorstRows)), rows.end());
  return rows;
}

/// A summary of the pairs at one size. Latencies are not added up, nor are bandwidths from different times.
std::string summary_line(const Context& context, std::span<const Row> rows) {
  constexpr int kAnyWidth = 16;
  std::vector<double> figures;
  double together = 0;
  double messages = 0;
  for (const Row& row : rows) {
    figures.push_back(figure_of(row, context.row_kind));
    together += figures.back();
    messages += row.out_of_place->message_rate / 1e6;
  }
  const auto [least, most] = std::minmax_element(figures.begin(), figures.end());
  const int pair = slowest(rows, context.row_kind).group;
  const std::string whole = rows.size() == context.groups.size() ? "" : fmt::format(" of {}", context.groups.size());
  std::string text = fmt::format("# Summary: {}{} pairs; size: {}; min {}, median {}, max {} {}; slowest: pair {}, {}",
                                 rows.size(), whole, rows.front().size, readable(*least, kAnyWidth),
                                 readable(median(figures), kAnyWidth), readable(*most, kAnyWidth),
                                 context.row_kind == RowKind::kLatency ? "us" : "GB/s", pair, pair_text(context, pair));
  const bool in_rounds = std::any_of(context.groups.begin(), context.groups.end(),
                                     [](const GroupFacts& group) { return group.round > 0; });
  if (context.row_kind != RowKind::kLatency && !in_rounds) {
    text += fmt::format("; together: {} GB/s, {} Mmsg/s", readable(together, kAnyWidth), readable(messages, kAnyWidth));
  }
  if (rows.size() > kMostRows) {
    text += fmt::format("; only the {} worst are shown, all are in the files of --json and --csv", kWorstRows);
  }
  return text + "\n";
}

/// Writes the table of programs that send messages between two ranks: a row for each size and pair, and all other lines
/// marked with `#`. With several pairs, the rows of one size are grouped in whatever order they arrive, and a line
/// below them summarises the pairs. A closing line names the pair that was slowest most often. docs/output.md describes
/// the table.
class PairTableSink final : public Table {
 public:
  using Table::Table;

  void begin(const Context& context) override {
    context_ = context;
    pending_ = PairRows(context.groups.size());
    std::string text;
    if (!context.options.quiet) {
      text += starting_lines(context) + pair_settings_line(context) + method_lines(context, meaning_of(context));
      text += device_lines(context) + pair_lines(context) + notice_lines(context);
    }
    table_.emplace(columns_of(context), readable);
    output_.write(text + "#\n" + table_->titles() + table_->units());
  }
  void record(const AnyRecord& record) override {
    if (const auto* row = record.as<Row>()) add(*row);
  }
  void end(const Ending& ending) override {
    print_rest();
    output_.write(wrong_line(ending) + slowest_pair_line() + concluding_lines(context_, ending, statistics()));
    rows_.clear();
  }

 private:
  void print_rest() override {
    for (const std::vector<Row>& rows : pending_.take_rest()) print(rows);
  }
  void add(const Row& row) {
    if (!row.skipped.empty()) {
      output_.write(skipped_line(row, context_.row_kind));
      return;
    }
    if (!row.out_of_place) return;
    if (context_.options.stats) {
      rows_.push_back(row);
      rows_.back().out_of_place->samples = {};
    }
    const std::vector<Row> complete = pending_.add(row);
    if (!complete.empty()) print(complete);
  }
  /// Prints the rows of one case, from all pairs that have reported it.
  void print(const std::vector<Row>& rows) {
    std::string text;
    const bool cut_short = std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.cut_short; });
    text += cut_short_line(cut_short);
    for (const Row& row : rows.size() > kMostRows ? worst(rows, context_.row_kind) : rows) text += row_line(row);
    if (context_.groups.size() > 1) {
      text += summary_line(context_, rows);
      ++times_slowest_[slowest(rows, context_.row_kind).group];
      ++cases_;
    }
    output_.write(text);
  }
  /// The share of its ports' rate that a pair used in one direction, in percent; null from the row on that shows that
  /// the rate is wrong.
  [[nodiscard]] record::Json share_of_port_rate(const Row& row) {
    const auto share = share_of_rate(context_, row.group, row.out_of_place->algbw);
    if (share.value_or(0) > kMostOfRate) with_wrong_rate_.insert(row.group);
    if (!share || with_wrong_rate_.count(row.group) > 0) return nullptr;
    return fmt::format("{:.1f}", 100 * *share);
  }
  [[nodiscard]] std::string row_line(const Row& row) {
    Json shown = to_json(row);
    shown["timestamp"] = timestamp(row.finished);
    shown["share_of_rate"] = share_of_port_rate(row);
    return table_->line(shown);
  }
  [[nodiscard]] std::string slowest_pair_line() const {
    if (times_slowest_.empty()) return "";
    const auto& [pair, times] = *std::max_element(times_slowest_.begin(), times_slowest_.end(),
                                                  [](const auto& a, const auto& b) { return a.second < b.second; });
    return fmt::format("# {:<20} : {}, {}; in {} of {} rows\n", "Slowest pair", pair, pair_text(context_, pair), times,
                       cases_);
  }
  /// Ordered by pair, in whatever order the rows arrived.
  [[nodiscard]] std::string statistics() {
    if (!context_.options.stats) return "";
    std::stable_sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.group < b.group; });
    return statistics_table(context_, rows_);
  }

  std::optional<record::TextTable> table_;  // from the beginning on
  PairRows pending_;
  std::map<int, int> times_slowest_;  // by pair
  std::set<int> with_wrong_rate_;     // pairs that were faster than their ports' rate
  int cases_ = 0;                     // cases that several pairs have reported
  std::vector<Row> rows_;             // kept only if --stats will print them
};

}  // namespace

std::unique_ptr<Sink> make_pair_table(OutputFile output) { return std::make_unique<PairTableSink>(std::move(output)); }

}  // namespace fabricbench
