#include "common/report/csv.h"

#include <fmt/format.h>

#include "common/report/copy_csv.h"
#include "common/report/csv_fields.h"
#include "common/report/reading_csv.h"

namespace fabricbench {
namespace {

std::string direction_field(const Measurement& measured, std::size_t which) {
  return which < measured.directions.size() ? fmt::format("{:.6g}", measured.directions[which] / 1e9) : "";
}

std::string retransmitted_field(const Measurement& measured, std::size_t rank) {
  const std::vector<std::uint64_t>& segments = measured.retransmitted;
  return rank < segments.size() ? fmt::to_string(segments[rank]) : "";
}

std::string message_columns(const Measurement& measured) {
  const std::string rate = measured.message_rate > 0 ? fmt::format("{:.6g}", measured.message_rate) : "";
  return fmt::format(",{},{},{},{},{},{}", rate, csv_us(measured.summary.jitter), direction_field(measured, 0),
                     direction_field(measured, 1), retransmitted_field(measured, 0), retransmitted_field(measured, 1));
}

std::string csv_line(const Row& row, const char* placement, const Measurement& measured) {
  const Summary& summary = measured.summary;
  const auto low = summary.interval ? std::optional(summary.interval->low) : std::nullopt;
  const LibraryChoice choice = measured.choice.value_or(LibraryChoice());
  const auto high = summary.interval ? std::optional(summary.interval->high) : std::nullopt;
  return fmt::format(
             "{},{},{},{},{},{},{},{},{},{:.6g},{:.6g},{},{},{},{},{},{},{},{},{},{},{},{:.4g},{},{},{},{},{},{}",
             row.size, row.count, facts(row.datatype).name, name(row.reduction), row.root, placement,
             csv_us(summary.median), csv_us(low), csv_us(high), measured.algbw / 1e9, measured.busbw / 1e9,
             measured.wrong ? fmt::to_string(*measured.wrong) : "", summary.epochs, summary.samples,
             csv_us(summary.min), csv_us(summary.p95), csv_us(summary.p99), csv_us(summary.p999), csv_us(summary.max),
             summary.outliers, summary.late, summary.preemptions, summary.drift * 100, summary.slowest_rank, row.group,
             csv_us(measured.host_time), choice.algorithm, choice.protocol,
             choice.channels > 0 ? fmt::to_string(choice.channels) : "") +
         message_columns(measured) +
         fmt::format(",{},{},{}\n", csv_us(summary.mean), csv_us(summary.standard_deviation), csv_count(measured.lost));
}

}  // namespace

void CsvSink::begin(const Context& context) {
  if (context.figure == Figure::kCopies) {
    output_.write(copy_csv_header());
    return;
  }
  if (context.figure == Figure::kSweep) {
    sweep_ = sweep_facts(context);
    output_.write(reading_csv_header());
    return;
  }
  output_.write(
      "size_bytes,count,datatype,reduction,root,placement,time_us_median,time_us_low,time_us_high,algbw_gb_per_s,"
      "busbw_gb_per_s,wrong_elements,epochs,samples,time_us_min,time_us_p95,time_us_p99,time_us_p999,time_us_max,"
      "outliers,late_starts,preemptions,drift_percent,slowest_rank,group,time_us_host,algorithm,protocol,channels,"
      "message_rate_per_s,jitter_us,first_to_second_gb_per_s,second_to_first_gb_per_s,"
      "first_to_second_retransmitted_segments,second_to_first_retransmitted_segments,"
      "time_us_mean,time_us_stdev,lost_messages\n");
}

void CsvSink::reading(const PairReading& reading) { output_.write(reading_csv_line(reading, sweep_)); }

void CsvSink::copied(const CopyRow& row) { output_.write(copy_csv_line(row)); }

void CsvSink::row(const Row& row) {
  std::string lines;
  if (row.out_of_place) lines += csv_line(row, "out", *row.out_of_place);
  if (row.in_place) lines += csv_line(row, "in", *row.in_place);
  output_.write(lines);
}

}  // namespace fabricbench
