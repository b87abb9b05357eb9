#include "common/report/copy_table.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/report/banner.h"
#include "common/report/table.h"

namespace fabricbench {
namespace {

constexpr int kRateWidth = 8;
constexpr const char* kUnknown = "N/A";

std::string rate_column(double rate) { return rate > 0 ? fitted(rate / 1e9, kRateWidth) : kUnknown; }

std::string percent_column(double share) { return share > 0 ? fmt::format("{:.0f}", share * 100) : kUnknown; }

/// The bandwidth if the copy took `time`; for both ways, the time is that of both directions.
std::string rate_at(const CopyRow& row, const std::optional<Interval>& interval, Seconds Interval::*end) {
  if (!interval || (*interval).*end <= 0) return "-";
  return rate_column(row.bandwidth * row.summary.median / (*interval).*end);
}

std::string direction_column(const CopyRow& row, std::size_t which) {
  return which < row.directions.size() ? rate_column(row.directions[which]) : "-";
}

/// The other end: host memory on a NUMA node, or the receiving GPU.
std::string with(const CopyRow& row) {
  if (row.peer) return fmt::format("GPU {}{}", row.peer->device, row.over_host ? "*" : "");
  return row.memory_node ? fmt::format("node {}", *row.memory_node) : "-";
}

template <typename... Texts>
std::string copy_line(const Texts&... texts) {
  return fmt::format(
      "{:>12}  {:>16}  {:>3}  {:>12}  {:>5}  {:>8}  {:>9}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}  "
      "{:>6}  {:>7}  {:>6}\n",
      texts...);
}

std::string copy_header() {
  std::string titles = copy_line("size", "host", "GPU", "PCI", "copy", "with", "time", "GB/s", "low", "high", "->",
                                 "<-", "bound", "%bound", "%others", "#wrong");
  std::string units =
      copy_line("(B)", "", "", "", "", "", "(us)", "", "(GB/s)", "(GB/s)", "(GB/s)", "(GB/s)", "(GB/s)", "", "", "");
  titles.front() = '#';
  units.front() = '#';
  return "#\n" + titles + units;
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

void CopyTableSink::begin(const Context& context) {
  context_ = context;
  std::string text;
  if (!context.options.quiet) {
    text += starting_lines(context) + copy_settings_line(context.options);
    text += fmt::format("# Ranks: {}, hosts: {}; {}\n", context.ranks.size(), context.hosts, context.library);
    text += method_line(context) + notice_lines(context);
  }
  output_.write(text + copy_header());
}

void CopyTableSink::record(const AnyRecord& record) {
  if (const auto* row = record.as<CopyRow>()) add(*row);
}

void CopyTableSink::add(const CopyRow& row) {
  note_status(row.host, row.gpu, row.comparison.status);
  if (row.peer && row.peer_comparison) note_status(row.host, *row.peer, row.peer_comparison->status);
  output_.write(copy_line(row.size, row.host, row.gpu.device, row.gpu.pci, short_name(row.kind), with(row),
                          fitted(row.summary.median * 1e6, 9), rate_column(row.bandwidth),
                          rate_at(row, row.summary.interval, &Interval::high),
                          rate_at(row, row.summary.interval, &Interval::low), direction_column(row, 0),
                          direction_column(row, 1), rate_column(row.bound.bytes_per_s), percent_column(row.of_bound()),
                          percent_column(row.of_others()), row.wrong ? fmt::to_string(*row.wrong) : kUnknown));
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

void CopyTableSink::end(const Ending& ending) {
  output_.write(wrong_line(ending) + odd_line() + concluding_lines(context_, ending, ""));
}

}  // namespace fabricbench
