#include "common/report/tables.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/report/banner.h"

namespace fabricbench {
namespace {

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

}  // namespace

CopyTableSink::CopyTableSink(OutputFile output) : output_(std::move(output)), table_(copy_columns(), fitted) {}

void CopyTableSink::begin(const Context& context) {
  context_ = context;
  std::string text;
  if (!context.options.quiet) {
    text += starting_lines(context) + copy_settings_line(context.options);
    text += fmt::format("# Ranks: {}, hosts: {}; {}\n", context.ranks.size(), context.hosts, context.library);
    text += method_line(context) + notice_lines(context);
  }
  output_.write(text + "#\n" + table_.titles() + table_.units());
}

void CopyTableSink::record(const AnyRecord& record) {
  if (const auto* row = record.as<CopyRow>()) add(*row);
}

void CopyTableSink::add(const CopyRow& row) {
  note_status(row.host, row.gpu, row.comparison.status);
  if (row.peer && row.peer_comparison) note_status(row.host, *row.peer, row.peer_comparison->status);
  const bool first_cut_short = row.cut_short && !std::exchange(is_cut_short_, true);
  output_.write((first_cut_short ? std::string(kCutShortLine) : "") + copy_line(table_, row));
}

void CopyTableSink::note_status(const std::string& host, const CopyGpu& gpu, OutlierStatus status) {
  compared_ = compared_ || status == OutlierStatus::kUsual || status == OutlierStatus::kSlow;
  undecided_ = undecided_ || status == OutlierStatus::kUndecided;
  if (status != OutlierStatus::kSlow) return;
  std::string text = fmt::format("GPU {} ({}) of host {}", gpu.device, gpu.pci, host);
  if (std::find(odd_.begin(), odd_.end(), text) == odd_.end()) odd_.push_back(std::move(text));
}

std::string CopyTableSink::odd_line() const {
  const char* otherwise = undecided_   ? "cannot tell: two differ, and there is no third"
                          : !compared_ ? "cannot tell: there is no other to compare with"
                                       : "none";
  return fmt::format("# {:<20} : {}\n", "Odd GPUs",
                     odd_.empty() ? otherwise : fmt::format("{}", fmt::join(odd_, ", ")));
}

void CopyTableSink::abandon(const Ending& ending) { output_.write(ended_early_line(context_, ending)); }

void CopyTableSink::end(const Ending& ending) {
  output_.write(wrong_line(ending) + odd_line() + concluding_lines(context_, ending, ""));
}

}  // namespace fabricbench
