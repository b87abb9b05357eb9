#include "common/report/pair_table.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "common/core/statistics.h"
#include "common/report/banner.h"
#include "common/report/statistics_table.h"
#include "common/report/table.h"

namespace fabricbench {
namespace {

constexpr std::size_t kPairsInBanner = 64;
constexpr std::size_t kMostRows = 32;  // per size; with more pairs, only the worst are shown
constexpr std::size_t kWorstRows = 8;

std::string microseconds(const std::optional<Seconds>& time, int width) {
  return time ? readable(*time * 1e6, width) : "-";
}

/// The bandwidth if a message took `time`.
std::string gb_per_s_at(const Measurement& measured, const std::optional<Seconds>& time, int width) {
  if (!time || *time <= 0) return "-";
  return readable(measured.algbw * measured.summary.median / *time / 1e9, width);
}

std::string direction(const Measurement& measured, std::size_t which, int width) {
  return which < measured.directions.size() ? readable(measured.directions[which] / 1e9, width) : "-";
}

std::optional<Seconds> low(const Summary& summary) {
  return summary.interval ? std::optional(summary.interval->low) : std::nullopt;
}

std::optional<Seconds> high(const Summary& summary) {
  return summary.interval ? std::optional(summary.interval->high) : std::nullopt;
}

/// The message rate of one direction.
std::string messages(const Measurement& measured) {
  return fmt::to_string(measured.summary.samples * measured.operations_per_sample);
}

/// A column: its two header lines, its width, and its content.
struct Column {
  const char* title;
  const char* unit;
  int width;
  std::function<std::string(const Row& row, const Measurement& measured, int width)> text;
};

using Columns = std::vector<Column>;

Columns latency_columns() {
  return {
      {"samples", "", 8, [](const Row&, const Measurement& m, int) { return fmt::to_string(m.summary.samples); }},
      {"median", "(us)", 9, [](const Row&, const Measurement& m, int w) { return microseconds(m.summary.median, w); }},
      {"low", "(us)", 9, [](const Row&, const Measurement& m, int w) { return microseconds(low(m.summary), w); }},
      {"high", "(us)", 9, [](const Row&, const Measurement& m, int w) { return microseconds(high(m.summary), w); }},
      {"min", "(us)", 9, [](const Row&, const Measurement& m, int w) { return microseconds(m.summary.min, w); }},
      {"p99", "(us)", 9, [](const Row&, const Measurement& m, int w) { return microseconds(m.summary.p99, w); }},
      {"p99.9", "(us)", 9, [](const Row&, const Measurement& m, int w) { return microseconds(m.summary.p999, w); }},
      {"max", "(us)", 9, [](const Row&, const Measurement& m, int w) { return microseconds(m.summary.max, w); }},
      {"jitter", "(us)", 9, [](const Row&, const Measurement& m, int w) { return microseconds(m.summary.jitter, w); }},
  };
}

/// A slow message is a low bandwidth, so the interval's ends are swapped.
Columns bandwidth_columns() {
  return {
      {"messages", "", 9, [](const Row&, const Measurement& m, int) { return messages(m); }},
      {"time", "(us)", 9, [](const Row&, const Measurement& m, int w) { return microseconds(m.summary.median, w); }},
      {"GB/s", "", 8, [](const Row&, const Measurement& m, int w) { return readable(m.algbw / 1e9, w); }},
      {"low", "(GB/s)", 8, [](const Row&, const Measurement& m, int w) { return gb_per_s_at(m, high(m.summary), w); }},
      {"high", "(GB/s)", 8, [](const Row&, const Measurement& m, int w) { return gb_per_s_at(m, low(m.summary), w); }},
  };
}

Columns direction_columns() {
  return {
      {"->", "(GB/s)", 8, [](const Row&, const Measurement& m, int w) { return direction(m, 0, w); }},
      {"<-", "(GB/s)", 8, [](const Row&, const Measurement& m, int w) { return direction(m, 1, w); }},
  };
}

Columns rate_columns() {
  return {
      {"Gb/s", "", 8, [](const Row&, const Measurement& m, int w) { return readable(m.algbw * 8 / 1e9, w); }},
      {"Mmsg/s", "", 9, [](const Row&, const Measurement& m, int w) { return readable(m.message_rate / 1e6, w); }},
  };
}

std::string retransmitted(const Measurement& measured) {
  const std::vector<std::uint64_t>& segments = measured.retransmitted;
  if (segments.empty()) return "-";
  return fmt::to_string(std::accumulate(segments.begin(), segments.end(), std::uint64_t{0}));
}

std::string retransmitted(const Measurement& measured, std::size_t rank) {
  const std::vector<std::uint64_t>& segments = measured.retransmitted;
  return rank < segments.size() ? fmt::to_string(segments[rank]) : "-";
}

/// TCP segments retransmitted by both ranks together, or by each of them if both send messages at once.
Columns retransmission_columns(Figure figure) {
  if (figure != Figure::kBothWays) {
    return {{"Retr", "", 6, [](const Row&, const Measurement& m, int) { return retransmitted(m); }}};
  }
  return {{"Retr", "->", 6, [](const Row&, const Measurement& m, int) { return retransmitted(m, 0); }},
          {"Retr", "<-", 6, [](const Row&, const Measurement& m, int) { return retransmitted(m, 1); }}};
}

/// Known to users of perftest as t_avg and t_stdev.
Columns spread_columns() {
  return {
      {"mean", "(us)", 9, [](const Row&, const Measurement& m, int w) { return microseconds(m.summary.mean, w); }},
      {"stdev", "(us)", 9,
       [](const Row&, const Measurement& m, int w) { return microseconds(m.summary.standard_deviation, w); }},
  };
}

/// The share of the slowest port's rate used in one direction.
Columns rate_share_columns(const Context& context) {
  const auto share = [figure = context.figure, rate = context.wire_rate](const Row&, const Measurement& m, int) {
    return rate > 0 ? fmt::format("{:.1f}", 100 * one_way(figure, m.algbw) / rate) : "-";
  };
  return {{"%rate", "", 6, share}};
}

std::string lost_text(const Measurement& measured) { return measured.lost ? fmt::to_string(*measured.lost) : "-"; }

Columns rdma_columns(const Context& context) {
  Columns columns = context.figure == Figure::kLatency ? spread_columns() : rate_share_columns(context);
  if (context.options.rdma.transport == Transport::kUd) {
    columns.push_back({"lost", "", 6, [](const Row&, const Measurement& m, int) { return lost_text(m); }});
  }
  return columns;
}

void append(Columns& columns, const Columns& more) { columns.insert(columns.end(), more.begin(), more.end()); }

Columns columns_of(const Context& context) {
  Columns columns = {{"size", "(B)", 12, [](const Row& r, const Measurement&, int) { return fmt::to_string(r.size); }}};
  if (context.groups.size() > 1) {
    columns.push_back({"pair", "", 5, [](const Row& r, const Measurement&, int) { return fmt::to_string(r.group); }});
  }
  if (context.figure == Figure::kLatency) {
    append(columns, latency_columns());
  } else {
    append(columns, bandwidth_columns());
    if (context.figure == Figure::kBothWays) append(columns, direction_columns());
    append(columns, rate_columns());
  }
  if (context.backend == "tcp") append(columns, retransmission_columns(context.figure));
  if (context.backend == "verbs") append(columns, rdma_columns(context));
  columns.push_back({"#wrong", "", 6, [](const Row&, const Measurement& m, int) { return wrong_text(m); }});
  if (context.options.timestamps) {
    columns.push_back(
        {"timestamp", "", 19, [](const Row& r, const Measurement&, int) { return timestamp(r.finished); }});
  }
  return columns;
}

/// A line of the table; `text` returns each column's part.
template <typename Text>
std::string line(const Columns& columns, Text text) {
  std::string all;
  for (const Column& column : columns) {
    all += fmt::format("{}{:>{}}", all.empty() ? "" : "  ", text(column), column.width);
  }
  return all + "\n";
}

std::string header(const Columns& columns) {
  std::string titles = line(columns, [](const Column& column) { return column.title; });
  std::string units = line(columns, [](const Column& column) { return column.unit; });
  titles.front() = '#';
  units.front() = '#';
  return "#\n" + titles + units;
}

std::string row_line(const Columns& columns, const Row& row) {
  return line(columns, [&](const Column& column) { return column.text(row, *row.out_of_place, column.width); });
}

/// The settings in the words of perftest's options; `auto` if each size or device has its own.
std::string rdma_settings(const Context& context) {
  const RdmaOptions& rdma = context.options.rdma;
  const auto text_of = [](std::int64_t value) { return value > 0 ? fmt::to_string(value) : "auto"; };
  std::string text = fmt::format("; queue pairs: {}", rdma.queue_pairs);
  if (context.figure != Figure::kLatency) {
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
      context.figure == Figure::kLatency ? "" : fmt::format("; window: {} messages", options.window);
  const std::string buffers = fmt::format("; buffers: {}", name(options.buffers));
  return fmt::format("# Sizes: {} to {} bytes, step: {}({}){}; warmup iters: {}; iters: {}; checks: {}{}\n",
                     sizes.min_bytes, sizes.max_bytes, factor ? sizes.step_factor : sizes.step_bytes,
                     factor ? "factor" : "bytes", rdma ? rdma_settings(context) : window, options.warmup,
                     options.iterations ? fmt::to_string(*options.iterations) : "auto", options.checks,
                     rdma ? "" : buffers);
}

std::string_view meaning_of(const Context& context) {
  if (!context.time_means.empty()) return context.time_means;
  if (context.figure == Figure::kLatency) return "half a round trip";
  return context.figure == Figure::kBothWays ? "time of a window each way over its messages"
                                             : "time of a window over its messages";
}

std::string pair_lines(const Context& context) {
  std::string text = "#\n";
  const std::size_t shown = std::min(context.groups.size(), kPairsInBanner);
  for (std::size_t pair = 0; pair < shown; ++pair) text += group_line(context, static_cast<int>(pair));
  if (shown < context.groups.size()) text += fmt::format("# and {} pairs more\n", context.groups.size() - shown);
  return text;
}

/// Microseconds of latency, or GB/s.
double figure_of(const Row& row, Figure figure) {
  const Measurement& measured = *row.out_of_place;
  return figure == Figure::kLatency ? measured.summary.median * 1e6 : measured.algbw / 1e9;
}

/// Whether `a` is slower than `b`.
bool slower(const Row& a, const Row& b, Figure figure) {
  const double first = figure_of(a, figure);
  const double second = figure_of(b, figure);
  return figure == Figure::kLatency ? first > second : first < second;
}

const Row& slowest(std::span<const Row> rows, Figure figure) {
  return *std::min_element(rows.begin(), rows.end(), [&](const Row& a, const Row& b) { return slower(a, b, figure); });
}

/// The pairs with wrong data, then the slowest, worst first.
std::vector<Row> worst(std::vector<Row> rows, Figure figure) {
  const auto is_wrong = [](const Row& row) { return row.out_of_place->wrong.value_or(0) > 0; };
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    return is_wrong(a) != is_wrong(b) ? is_wrong(a) : slower(a, b, figure);
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
    figures.push_back(figure_of(row, context.figure));
    together += figures.back();
    messages += row.out_of_place->message_rate / 1e6;
  }
  const auto [least, most] = std::minmax_element(figures.begin(), figures.end());
  const int pair = slowest(rows, context.figure).group;
  const std::string whole = rows.size() == context.groups.size() ? "" : fmt::format(" of {}", context.groups.size());
  std::string text = fmt::format("# Summary: {}{} pairs; size: {}; min {}, median {}, max {} {}; slowest: pair {}, {}",
                                 rows.size(), whole, rows.front().size, readable(*least, kAnyWidth),
                                 readable(median(figures), kAnyWidth), readable(*most, kAnyWidth),
                                 context.figure == Figure::kLatency ? "us" : "GB/s", pair, pair_text(context, pair));
  const bool in_rounds = std::any_of(context.groups.begin(), context.groups.end(),
                                     [](const GroupFacts& group) { return group.round > 0; });
  if (context.figure != Figure::kLatency && !in_rounds) {
    text += fmt::format("; together: {} GB/s, {} Mmsg/s", readable(together, kAnyWidth), readable(messages, kAnyWidth));
  }
  if (rows.size() > kMostRows) {
    text += fmt::format("; only the {} worst are shown, all are in the files of --json and --csv", kWorstRows);
  }
  return text + "\n";
}

}  // namespace

void PairTableSink::begin(const Context& context) {
  context_ = context;
  pending_ = PairRows(context.groups.size());
  std::string text;
  if (!context.options.quiet) {
    text += starting_lines(context) + pair_settings_line(context) + method_lines(context, meaning_of(context));
    text += device_lines(context) + pair_lines(context) + notice_lines(context);
  }
  output_.write(text + header(columns_of(context)));
}

void PairTableSink::record(const AnyRecord& record) {
  if (const auto* row = record.as<Row>()) add(*row);
}

void PairTableSink::add(const Row& row) {
  if (!row.skipped.empty()) {
    output_.write(skipped_line(row));
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
void PairTableSink::print(const std::vector<Row>& rows) {
  const Columns columns = columns_of(context_);
  std::string text;
  for (const Row& row : rows.size() > kMostRows ? worst(rows, context_.figure) : rows) text += row_line(columns, row);
  if (context_.groups.size() > 1) {
    text += summary_line(context_, rows);
    ++times_slowest_[slowest(rows, context_.figure).group];
    ++cases_;
  }
  output_.write(text);
}

std::string PairTableSink::slowest_pair_line() const {
  if (times_slowest_.empty()) return "";
  const auto& [pair, times] = *std::max_element(times_slowest_.begin(), times_slowest_.end(),
                                                [](const auto& a, const auto& b) { return a.second < b.second; });
  return fmt::format("# {:<20} : {}, {}; in {} of {} rows\n", "Slowest pair", pair, pair_text(context_, pair), times,
                     cases_);
}

/// Ordered by pair, in whatever order the rows arrived.
std::string PairTableSink::statistics() {
  if (!context_.options.stats) return "";
  std::stable_sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.group < b.group; });
  return statistics_table(context_, rows_);
}

void PairTableSink::end(const Ending& ending) {
  for (const std::vector<Row>& rows : pending_.take_rest()) print(rows);
  output_.write(wrong_line(ending) + slowest_pair_line() + concluding_lines(context_, ending, statistics()));
  rows_.clear();
}

}  // namespace fabricbench
