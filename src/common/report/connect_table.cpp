#include "common/report/tables.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/report/banner.h"

namespace fabricbench {
namespace {

using record::field;
using record::TextColumn;
using record::to_json;

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

}  // namespace

ConnectTableSink::ConnectTableSink(OutputFile output)
    : output_(std::move(output)), table_(connection_columns(), fitted) {}

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
  output_.write(text + "#\n" + table_.titles() + table_.units());
}

void ConnectTableSink::record(const AnyRecord& record) {
  const auto* row = record.as<ConnectRow>();
  if (row == nullptr) return;
  std::string text;
  if (!context_.options.quiet) text += group_line(context_, row->pair);
  for (const ConnectTimes& times : row->steps) text += table_.line(to_json(ConnectionStep{*row, times}));
  output_.write(text);
}

void ConnectTableSink::abandon(const Ending& ending) { output_.write(ended_early_line(context_, ending)); }

void ConnectTableSink::end(const Ending& ending) {
  output_.write(wrong_line(ending) + concluding_lines(context_, ending, ""));
}

}  // namespace fabricbench
