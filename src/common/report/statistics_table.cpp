#include "common/report/statistics_table.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/record/text_table.h"
#include "common/report/banner.h"
#include "common/report/placements.h"

namespace fabricbench {
namespace {

using record::field;
using record::Json;
using record::Shown;
using record::TextColumn;
using record::TextTable;

std::string host_of(const Context& context, int group, int group_rank) {
  for (const RankFacts& rank : context.ranks) {
    if (rank.group == group && rank.group_rank == group_rank) return rank.host;
  }
  return "";
}

/// `RING/SIMPLE/16`; null if the library does not tell.
Json chosen(const Json& measured) {
  const Json& choice = measured.at("choice");
  if (choice.is_null()) return choice;
  const Json& channels = choice.at("channels");
  return fmt::format("{}/{}{}", choice.at("algorithm").get<std::string>(), choice.at("protocol").get<std::string>(),
                     channels.is_null() ? "" : fmt::format("/{}", channels.get<int>()));
}

/// The field with this number of decimals.
Shown rounded(std::string_view key, int decimals) {
  return [key = std::string(key), decimals](const Json& measured) -> Json {
    const Json& value = measured.at(key);
    if (value.is_null()) return value;
    return fmt::format("{:.{}f}", value.get<double>(), decimals);
  };
}

Json preempted(const Json& measured) {
  if (measured.at("preemptions").is_null()) return nullptr;
  return fmt::format("{}@{}", measured.at("preemptions").get<std::int64_t>(),
                     measured.at("most_preempted_rank").get<int>());
}

Json slowest_rank(const Json& measured) {
  if (measured.at("slowest_rank").is_null()) return nullptr;
  return fmt::format("{} ({:.0f}%) {}", measured.at("slowest_rank").get<int>(),
                     100 * measured.at("slowest_rank_share").get<double>(), measured.at("host").get<std::string>());
}

/// What a line is about. The columns show a measurement in one placement, with its row as `row`.
std::vector<TextColumn> with_case(Figure figure, std::vector<TextColumn> columns) {
  std::vector<TextColumn> all = {{"size", "", 12, field("/row/size_bytes")}};
  if (!is_of_pairs(figure)) all.push_back({"place", "", 5, field("/placement")});
  all.insert(all.end(), std::move_iterator(columns.begin()), std::move_iterator(columns.end()));
  return all;
}

std::vector<TextColumn> time_columns() {
  return {{"median", "", 8, field("/time_us_median")},
          {"low", "", 8, field("/time_us_interval/low_us")},
          {"high", "", 8, field("/time_us_interval/high_us")},
          {"min", "", 8, field("/time_us_min")},
          {"p95", "", 8, field("/time_us_p95")},
          {"p99", "", 8, field("/time_us_p99")},
          {"p99.9", "", 8, field("/time_us_p999")},
          {"max", "", 8, field("/time_us_max")}};
}

std::vector<TextColumn> sample_columns() {
  return {{"epochs", "", 6, field("/epochs")},
          {"samples", "", 7, field("/samples")},
          {"out", "", 4, field("/outliers")},
          {"late", "", 4, field("/late_starts")},
          {"drift%", "", 6, rounded("drift_percent", 1)},
          {"corr", "", 5, rounded("sign_autocorrelation", 2)},
          {"preempt", "", 7, preempted},
          {"chosen", "", 6, chosen},
          {"slowest", "", 0, slowest_rank}};
}

std::string explanation_of_times(Figure figure) {
  return fmt::format(
      "#\n# Statistics: times in us of one {}\n"
      "#   median: of the epochs' medians; low, high: its 95 % interval; -: too few epochs\n"
      "#   min, p95, p99, p99.9, max: of all samples; -: too few samples\n",
      is_of_pairs(figure) ? "message" : "operation");
}

constexpr std::string_view kExplanationOfSamples =
    "#\n# Statistics: samples\n"
    "#   epochs: measurement rounds; samples: times taken in them; out: those far above the others, still counted\n"
    "#   late: times left out, because a rank started late (--timing isolated)\n"
    "#   drift%: rise of the epochs' medians over the run; corr: near 0 for independent samples, near 1 for clusters\n"
    "#   preempt: involuntary context switches of all ranks@rank with most; chosen: algorithm/protocol/channels\n"
    "#   slowest: rank that finished last in most samples (its share of them) and its host; it may only have waited "
    "for\n"
    "#     another one: pairwise_bw --find tells which host or link is slow\n";

/// Such as `float sum`.
std::string kind_of(const Row& row) {
  std::string kind(facts(row.datatype).name);
  if (row.reduction != Reduction::kNone) kind += fmt::format(" {}", name(row.reduction));
  return kind;
}

/// A line for each row and placement, below the name of each group of several, and of each kind of data of several.
std::string lines_of(const Context& context, std::span<const Row> rows, const TextTable& table) {
  const bool several_kinds =
      std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return kind_of(row) != kind_of(rows.front()); });
  std::string text = table.titles();
  int group = -1;
  std::string kind;
  for (const Row& row : rows) {
    const bool new_group = context.groups.size() > 1 && row.group != std::exchange(group, row.group);
    if (new_group) text += group_line(context, row.group);
    const bool new_kind = kind_of(row) != std::exchange(kind, kind_of(row));
    if (several_kinds && (new_group || new_kind)) text += fmt::format("#  {}\n", kind);
    for (Json& measured : placements(row)) {
      const Json& slowest = measured.at("slowest_rank");
      if (!slowest.is_null()) measured["host"] = host_of(context, row.group, slowest.get<int>());
      std::string line = table.line(measured);
      line.front() = '#';
      text += line;
    }
  }
  return text;
}

}  // namespace

std::string statistics_table(const Context& context, std::span<const Row> rows) {
  return explanation_of_times(context.figure) +
         lines_of(context, rows, TextTable(with_case(context.figure, time_columns()), fitted)) +
         std::string(kExplanationOfSamples) +
         lines_of(context, rows, TextTable(with_case(context.figure, sample_columns()), fitted));
}

}  // namespace fabricbench
