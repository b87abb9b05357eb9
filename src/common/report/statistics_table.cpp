#include "common/report/statistics_table.h"

#include <optional>

#include <fmt/format.h>

#include "common/report/banner.h"
#include "common/report/table.h"

namespace fabricbench {
namespace {

std::string microseconds(const std::optional<Seconds>& time) { return time ? fitted(*time * 1e6, 9) : "-"; }

/// `RING/SIMPLE/16`; a dash if the library does not tell.
std::string choice_text(const std::optional<LibraryChoice>& choice) {
  if (!choice) return "-";
  const std::string channels = choice->channels > 0 ? fmt::format("/{}", choice->channels) : "";
  return fmt::format("{}/{}{}", choice->algorithm, choice->protocol, channels);
}

std::string host_of(const Context& context, int group, int group_rank) {
  for (const RankFacts& rank : context.ranks) {
    if (rank.group == group && rank.group_rank == group_rank) return rank.host;
  }
  return "";
}

std::string statistics_line(const Row& row, const char* placement, const Measurement& measured,
                            const std::string& slowest_host) {
  const Summary& summary = measured.summary;
  const auto& interval = summary.interval;
  return fmt::format(
      "# {:>12}  {:>9}  {:>6}  {:>5}  {:>6}  {:>7}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>5}  "
      "{:>5}  {:>6.1f}  {:>5.2f}  {:>7}  {:>16}  {} ({:.0f}%) {}\n",
      row.size, facts(row.datatype).name, name(row.reduction), placement, summary.epochs, summary.samples,
      microseconds(summary.median), microseconds(interval ? std::optional(interval->low) : std::nullopt),
      microseconds(interval ? std::optional(interval->high) : std::nullopt), microseconds(summary.min),
      microseconds(summary.p95), microseconds(summary.p99), microseconds(summary.p999), microseconds(summary.max),
      summary.outliers, summary.late, summary.drift * 100, summary.autocorrelation,
      fmt::format("{}@{}", summary.preemptions, summary.most_preempted_rank), choice_text(measured.choice),
      summary.slowest_rank, summary.slowest_share * 100, slowest_host);
}

std::string statistics_header(Figure figure) {
  return fmt::format(
             "#\n# Statistics: times in us of one {}; low and high: 95 % interval of the median; preempt: involuntary "
             "context switches@rank with most; chosen: the library's algorithm/protocol/channels\n",
             figure == Figure::kCollective ? "operation" : "message") +
         fmt::format(
             "# {:>12}  {:>9}  {:>6}  {:>5}  {:>6}  {:>7}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  "
             "{:>9}  {:>5}  {:>5}  {:>6}  {:>5}  {:>7}  {:>16}  {}\n",
             "size", "type", "redop", "place", "epochs", "samples", "median", "low", "high", "min", "p95", "p99",
             "p99.9", "max", "out", "late", "drift%", "corr", "preempt", "chosen", "slowest rank");
}

}  // namespace

std::string statistics_table(const Context& context, std::span<const Row> rows) {
  std::string text = statistics_header(context.figure);
  int shown = -1;
  for (const Row& row : rows) {
    if (context.groups.size() > 1 && row.group != shown) text += group_line(context, row.group);
    shown = row.group;
    for (const bool in_place : {false, true}) {
      const auto& measured = in_place ? row.in_place : row.out_of_place;
      if (!measured) continue;
      text += statistics_line(row, in_place ? "in" : "out", *measured,
                              host_of(context, row.group, measured->summary.slowest_rank));
    }
  }
  return text;
}

}  // namespace fabricbench
