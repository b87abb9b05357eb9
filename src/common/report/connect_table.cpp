#include "common/report/connect_table.h"

#include <optional>
#include <string>

#include <fmt/format.h>

#include "common/report/banner.h"
#include "common/report/table.h"

namespace fabricbench {
namespace {

constexpr int kTimeWidth = 10;

template <typename... Texts>
std::string line(const Texts&... texts) {
  return fmt::format("{:>6}  {:>16}  {:>8}  {:>10}  {:>10}  {:>10}  {:>10}  {:>8}  {:>6}  {:>9}  {:>9}  {:>6}  {:>6}\n",
                     texts...);
}

std::string header() {
  std::string titles = line("pair", "step", "samples", "min", "median", "p99", "max", "conns", "failed", "conns/s",
                            "messages", "lost", "#wrong");
  std::string units = line("", "", "", "(us)", "(us)", "(us)", "(us)", "", "", "", "", "", "");
  titles.front() = '#';
  units.front() = '#';
  return "#\n" + titles + units;
}

std::string connect_settings_line(const Context& context) {
  const Options& options = context.options;
  return fmt::format(
      "# Connections: {} a pair, {}, one after the other; messages: {} of {} bytes each way; time limit of a step: "
      "{}\n",
      options.rdma.connections, name(options.rdma.transport), options.rdma.messages, options.sizes.max_bytes,
      readable_seconds(options.rdma.stall_timeout));
}

std::string time_column(const std::optional<Seconds>& time) { return time ? fitted(*time * 1e6, kTimeWidth) : "-"; }

std::string step_line(const ConnectRow& row, const ConnectTimes& times) {
  return line(row.pair, name(times.step), times.samples, time_column(times.min), time_column(times.median),
              time_column(times.p99), time_column(times.max), row.connections, row.failed, fitted(row.rate, 9),
              row.messages, row.lost, row.wrong);
}

}  // namespace

void ConnectTableSink::begin(const Context& context) {
  context_ = context;
  std::string text;
  if (!context.options.quiet) {
    text += starting_lines(context) + connect_settings_line(context);
    text += fmt::format("# Ranks: {}, hosts: {}; {}; clock read: {}\n", context.ranks.size(), context.hosts,
                        context.library, readable_seconds(context.timer_cost));
    text += "# Method: pairs at the same time; times are those of the pair's first rank, which connects\n";
    text += notice_lines(context) + device_lines(context);
  }
  output_.write(text + header());
}

void ConnectTableSink::record(const AnyRecord& record) {
  const auto* row = record.as<ConnectRow>();
  if (row == nullptr) return;
  std::string text;
  if (!context_.options.quiet) text += group_line(context_, row->pair);
  for (const ConnectTimes& times : row->steps) text += step_line(*row, times);
  output_.write(text);
}

void ConnectTableSink::end(const Ending& ending) {
  output_.write(wrong_line(ending) + concluding_lines(context_, ending, ""));
}

}  // namespace fabricbench
