#include "common/report/csv.h"

#include <fmt/format.h>

namespace fabricbench {
namespace {

std::string us(const std::optional<Seconds>& time) { return time ? fmt::format("{:.6g}", *time * 1e6) : ""; }

std::string direction(const Measurement& measured, std::size_t which) {
  return which < measured.directions.size() ? fmt::format("{:.6g}", measured.directions[which] / 1e9) : "";
}

std::string message_columns(const Measurement& measured) {
  const std::string rate = measured.message_rate > 0 ? fmt::format("{:.6g}", measured.message_rate) : "";
  return fmt::format(",{},{},{},{}", rate, us(measured.summary.jitter), direction(measured, 0), direction(measured, 1));
}

std::string csv_line(const Row& row, const char* placement, const Measurement& measured) {
  const Summary& summary = measured.summary;
  const auto low = summary.interval ? std::optional(summary.interval->low) : std::nullopt;
  const LibraryChoice choice = measured.choice.value_or(LibraryChoice());
  const auto high = summary.interval ? std::optional(summary.interval->high) : std::nullopt;
  return fmt::format(
             "{},{},{},{},{},{},{},{},{},{:.6g},{:.6g},{},{},{},{},{},{},{},{},{},{},{},{:.4g},{},{},{},{},{},{}",
             row.size, row.count, facts(row.datatype).name, name(row.reduction), row.root, placement,
             us(summary.median), us(low), us(high), measured.algbw / 1e9, measured.busbw / 1e9,
             measured.wrong ? fmt::to_string(*measured.wrong) : "", summary.epochs, summary.samples, us(summary.min),
             us(summary.p95), us(summary.p99), us(summary.p999), us(summary.max), summary.outliers, summary.late,
             summary.preemptions, summary.drift * 100, summary.slowest_rank, row.group, us(measured.host_time),
             choice.algorithm, choice.protocol, choice.channels > 0 ? fmt::to_string(choice.channels) : "") +
         message_columns(measured) + "\n";
}

}  // namespace

void CsvSink::begin(const Context& /*context*/) {
  output_.write(
      "size_bytes,count,datatype,reduction,root,placement,time_us_median,time_us_low,time_us_high,algbw_gb_per_s,"
      "busbw_gb_per_s,wrong_elements,epochs,samples,time_us_min,time_us_p95,time_us_p99,time_us_p999,time_us_max,"
      "outliers,late_starts,preemptions,drift_percent,slowest_rank,group,time_us_host,algorithm,protocol,channels,"
      "message_rate_per_s,jitter_us,first_to_second_gb_per_s,second_to_first_gb_per_s\n");
}

void CsvSink::row(const Row& row) {
  std::string lines;
  if (row.out_of_place) lines += csv_line(row, "out", *row.out_of_place);
  if (row.in_place) lines += csv_line(row, "in", *row.in_place);
  output_.write(lines);
}

}  // namespace fabricbench
