#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/core/options.h"
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

// The texts and formats of perftest 6.06 (src/perftest_parameters.h), except MiB/sec, which is from later versions.
constexpr std::string_view kDashedLine =
    "---------------------------------------------------------------------------------------\n";
constexpr std::string_view kLatencyTitle =
    " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% "
    "percentile[usec]   99.9% percentile[usec] \n";

std::string bandwidth_title(const RdmaOptions& options) {
  return fmt::format(" #bytes     #iterations    BW peak[{0}]    BW average[{0}]   MsgRate[Mpps]\n",
                     options.gbits ? "Gb/sec" : "MiB/sec");
}

std::string labelled(std::string_view label, std::string_view text) {
  return fmt::format(" {:<15} : {}\n", label, text);
}

std::string settings_block(const Context& context) {
  const RdmaOptions& rdma = context.options.rdma;
  const bool latency = context.row_kind == RowKind::kLatency;
  std::string text = fmt::format("{}                    {} {}Test\n", kDashedLine, context.program,
                                 context.row_kind == RowKind::kBothWays ? "Bidirectional " : "");
  if (!rdma.device.empty()) text += labelled("Device", rdma.device);
  text += labelled("Library", context.library);
  text += labelled("Number of qps", fmt::to_string(rdma.queue_pairs));
  text += labelled("Connection type", name(rdma.transport));
  text += labelled("TX depth", fmt::to_string(depth_of(rdma, latency)));
  if (rdma.moderation > 0) text += labelled("CQ Moderation", fmt::to_string(rdma.moderation));
  text += labelled("Mtu", rdma.mtu > 0 ? fmt::format("{}[B]", rdma.mtu) : "largest of both ports");
  if (rdma.inlined) text += labelled("Max inline data", fmt::format("{}[B]", *rdma.inlined));
  if (context.groups.size() > 1) {
    for (std::size_t pair = 0; pair < context.groups.size(); ++pair) {
      text += labelled(fmt::format("Pair {}", pair), pair_text(context, static_cast<int>(pair)));
    }
  }
  return text + std::string(kDashedLine);
}

/// Scales a figure of the median message to a message that takes `time`.
double rate_at(double of_median, const Summary& summary, Seconds time) {
  return time > 0 ? of_median * summary.median / time : of_median;
}

/// Unknown of a row that is cut short, whose epochs do not count them.
std::string operations(const Measurement& measured) {
  if (!measured.operations_per_sample) return "N/A";
  return fmt::to_string(measured.summary.samples * *measured.operations_per_sample);
}

std::string bandwidth_row(const Row& row, const RdmaOptions& options) {
  constexpr double kMebibyte = 0x100000;
  constexpr double kGigabit = 125'000'000;  // bytes
  constexpr double kPreciseBelow = 0.1;     // Gb/s
  const Measurement& measured = *row.out_of_place;
  const Summary& summary = measured.summary;
  const double unit = options.gbits ? kGigabit : kMebibyte;
  const double peak = rate_at(measured.algbw, summary, summary.min) / unit;
  const double average = rate_at(measured.algbw, summary, summary.mean) / unit;
  const double message_rate = rate_at(measured.message_rate, summary, summary.mean) / 1e6;
  if (options.gbits && average < kPreciseBelow) {
    return fmt::format(" {:<7}    {}           {:<7.6f}            {:<7.6f}            {:<7.6f}\n", row.size,
                       operations(measured), peak, average, message_rate);
  }
  return fmt::format(" {:<7}    {:<10}       {:<7.2f}            {:<7.2f}\t\t   {:<7.6f}\n", row.size,
                     operations(measured), peak, average, message_rate);
}

/// A percentile that needs more samples is the largest sample.
std::string latency_row(const Row& row) {
  const Measurement& measured = *row.out_of_place;
  const Summary& summary = measured.summary;
  return fmt::format(
      " {:<7} {}          {:<7.2f}        {:<7.2f}      {:<7.2f}  \t       {:<7.2f}     \t{:<7.2f}\t\t{:<7.2f} "
      "\t\t{:<7.2f}\n",
      row.size, operations(measured), summary.min * 1e6, summary.max * 1e6, summary.median * 1e6, summary.mean * 1e6,
      summary.standard_deviation * 1e6, summary.p99.value_or(summary.max) * 1e6,
      summary.p999.value_or(summary.max) * 1e6);
}

/// Prints the table of perftest's ib_write_bw or ib_write_lat, for programs that read it: dashed lines around a title
/// that begins with ` #bytes`, and a row of numbers for each size and pair. Other lines that may contain a size come
/// below the rows, because some programs take the first line with the size they look for. docs/output.md describes the
/// table.
class PerftestTableSink final : public Table {
 public:
  using Table::Table;

  void begin(const Context& context) override {
    context_ = context;
    pending_ = PairRows(context.groups.size());
    const std::string title =
        context.row_kind == RowKind::kLatency ? std::string(kLatencyTitle) : bandwidth_title(context.options.rdma);
    output_.write((context.options.quiet ? std::string() : settings_block(context)) + title);
  }
  void record(const AnyRecord& record) override {
    if (const auto* row = record.as<Row>()) add(*row);
  }
  void end(const Ending& ending) override {
    print_rest();
    std::string text(context_.options.quiet ? "" : kDashedLine);
    for (const std::string& remark : remarks_) text += remark;
    text += wrong_line(ending).substr(1);  // without its `#`
    if (!context_.options.quiet) {
      for (const std::string& notice : context_.notices) text += labelled("Notice", notice);
      for (const std::string& note : printed_notes(ending)) text += labelled("Note", note);
      for (const std::string& line : ending.nics) text += fmt::format(" {}\n", line);
      for (const std::string& line : printed_processors(ending)) text += fmt::format(" {}\n", line);
      text += fmt::format(" {}\n", ending.precision);
    }
    for (const std::string& line : ending.baseline) text += fmt::format(" {}\n", line);
    if (!ending.memory_usage.empty()) text += labelled("GPU memory usage", ending.memory_usage);
    output_.write(text);
  }

 private:
  void print_rest() override {
    for (const std::vector<Row>& rows : pending_.take_rest()) print(rows);
  }
  void add(const Row& row) {
    if (!row.skipped.empty()) {
      remarks_.push_back(labelled("Skipped", fmt::format("{} bytes: {}", row.size, row.skipped)));
      return;
    }
    if (!row.out_of_place) return;
    const std::vector<Row> complete = pending_.add(row);
    if (!complete.empty()) print(complete);
  }
  void print(const std::vector<Row>& rows) {
    std::string text;
    for (const Row& row : rows) {
      text += cut_short_line(row.cut_short);
      text += context_.row_kind == RowKind::kLatency ? latency_row(row) : bandwidth_row(row, context_.options.rdma);
      const std::uint64_t lost = row.out_of_place->lost.value_or(0);
      if (lost == 0) continue;
      remarks_.push_back(
          labelled("Lost", fmt::format("{} messages of {} bytes; {}", lost, row.size, pair_text(context_, row.group))));
    }
    output_.write(text);
  }

  PairRows pending_;
  std::vector<std::string> remarks_;  // on rows that were skipped or lost messages
};

}  // namespace

std::unique_ptr<Sink> make_perftest_table(OutputFile output) {
  return std::make_unique<PerftestTableSink>(std::move(output));
}

}  // namespace fabricbench
