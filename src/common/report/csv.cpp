#include "common/report/file_sinks.h"

#include <array>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "common/report/sweep_facts.h"

namespace fabricbench {
namespace {

using record::CsvColumn;
using record::Json;
using record::placements;
using record::to_json;

// The columns of a measurement, with its row and placement as `row` and `placement`.
constexpr auto kRowColumns = std::to_array<CsvColumn>({
    {"size_bytes", "/row/size_bytes"},
    {"count", "/row/count"},
    {"datatype", "/row/datatype"},
    {"reduction", "/row/reduction"},
    {"root", "/row/root"},
    {"placement"},
    {"time_us_median"},
    {"time_us_low", "/time_us_interval/low_us"},
    {"time_us_high", "/time_us_interval/high_us"},
    {"algbw_gb_per_s"},
    {"busbw_gb_per_s"},
    {"wrong_elements"},
    {"epochs"},
    {"samples"},
    {"time_us_min"},
    {"time_us_p95"},
    {"time_us_p99"},
    {"time_us_p999"},
    {"time_us_max"},
    {"outliers"},
    {"late_starts"},
    {"preemptions"},
    {"drift_percent"},
    {"slowest_rank"},
    {"group", "/row/group"},
    {"time_us_host", "/host_time_us_median"},
    {"algorithm", "/choice/algorithm"},
    {"protocol", "/choice/protocol"},
    {"channels", "/choice/channels"},
    {"message_rate_per_s"},
    {"jitter_us"},
    {"first_to_second_gb_per_s", "/directions_gb_per_s/0"},
    {"second_to_first_gb_per_s", "/directions_gb_per_s/1"},
    {"first_to_second_retransmitted_segments", "/retransmitted_segments/0"},
    {"second_to_first_retransmitted_segments", "/retransmitted_segments/1"},
    {"time_us_mean"},
    {"time_us_stdev"},
    {"lost_messages"},
    {"program", "/run/program"},
    {"started_utc", "/run/started_utc"},
    {"ranks", "/run/ranks"},
    {"hosts", "/run/hosts"},
    {"cut_short", "/row/cut_short"},
    {"processor_wait_share"},
});

constexpr auto kCopyColumns = std::to_array<CsvColumn>({
    {"host"},
    {"device", "/gpu/device"},
    {"pci", "/gpu/pci"},
    {"numa_node", "/gpu/numa_node"},
    {"copy"},
    {"memory_node"},
    {"peer_device", "/peer/device"},
    {"peer_pci", "/peer/pci"},
    {"over_host"},
    {"size_bytes"},
    {"time_us_median"},
    {"time_us_low", "/time_us_interval/low_us"},
    {"time_us_high", "/time_us_interval/high_us"},
    {"time_us_min"},
    {"time_us_max"},
    {"bandwidth_gb_per_s"},
    {"host_to_device_gb_per_s", "/directions_gb_per_s/0"},
    {"device_to_host_gb_per_s", "/directions_gb_per_s/1"},
    {"bound_gb_per_s"},
    {"bound_by"},
    {"others_gb_per_s"},
    {"across_hosts"},
    {"standing"},
    {"peer_standing"},
    {"wrong_elements"},
    {"epochs"},
    {"samples"},
    {"program", "/run/program"},
    {"started_utc", "/run/started_utc"},
    {"ranks", "/run/ranks"},
    {"cut_short"},
});

constexpr auto kReadingColumns = std::to_array<CsvColumn>({
    {"round"},
    {"concurrent"},
    {"from"},
    {"to"},
    {"from_rank"},
    {"to_rank"},
    {"from_host"},
    {"to_host"},
    {"size_bytes"},
    {"status"},
    {"bandwidth_gb_per_s"},
    {"bandwidth_gb_per_s_min"},
    {"bandwidth_gb_per_s_max"},
    {"windows"},
    {"messages_per_window"},
    {"latency_us"},
    {"wrong_elements"},
    {"reason"},
    {"program", "/run/program"},
    {"started_utc", "/run/started_utc"},
    {"ranks", "/run/ranks"},
    {"processor_wait_share"},
});

std::span<const CsvColumn> columns_of(RowKind row_kind) {
  if (row_kind == RowKind::kCopies) return kCopyColumns;
  if (row_kind == RowKind::kSweep) return kReadingColumns;
  return kRowColumns;
}

}  // namespace

using record::csv_text;

void MatrixCsvSink::begin(const Context& context) {
  names_ = endpoint_names(context);
  std::string line = "receiver";
  for (const std::string& name : names_) line += "," + csv_text(name);
  output_.write(line + "\n");
}

void MatrixCsvSink::record(const AnyRecord& record) {
  const auto* row = record.as<MatrixRow>();
  if (row == nullptr) return;
  std::string line = csv_text(names_[static_cast<std::size_t>(row->receiver)]);
  for (const float bandwidth : row->bandwidths) {
    line += std::isnan(bandwidth) ? "," : fmt::format(",{:.6g}", double{bandwidth} / 1e9);
  }
  output_.write(line + "\n");
}

void CsvSink::begin(const Context& context) {
  table_.emplace(columns_of(context.row_kind));
  run_ = {{"program", context.program},
          {"started_utc", to_json(context).at("started_utc")},
          {"ranks", context.ranks.size()}};
  of_messages_ = is_of_pairs(context.row_kind);
  ranks_of_groups_.assign(context.groups.size(), 0);
  for (const RankFacts& rank : context.ranks) ++ranks_of_groups_.at(static_cast<std::size_t>(rank.group));
  for (const GroupFacts& group : context.groups) hosts_of_groups_.push_back(group.hosts);
  output_.write(table_->header());
}

void CsvSink::record(const AnyRecord& record) {
  if (const auto* row = record.as<Row>()) add(*row);
  if (const auto* copy = record.as<CopyRow>()) add(to_json(*copy));
  if (const auto* reading = record.as<PairReading>()) add(to_json(*reading));
}

void CsvSink::add(Json record) {
  record["run"] = run_;
  output_.write(table_->line(record));
}

void CsvSink::add(const Row& row) {
  std::string lines;
  Json run = run_;
  run["ranks"] = ranks_of_groups_.at(static_cast<std::size_t>(row.group));
  run["hosts"] = hosts_of_groups_.at(static_cast<std::size_t>(row.group));
  for (Json& measured : placements(row)) {
    measured["run"] = run;
    if (of_messages_) {
      measured["placement"] = nullptr;
      measured["row"]["reduction"] = nullptr;
      measured["row"]["root"] = nullptr;
    }
    lines += table_->line(measured);
  }
  output_.write(lines);
}

}  // namespace fabricbench
