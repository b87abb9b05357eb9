#include "common/report/statistics_table.h"

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
  return [key = std::string(key), decimals](const Json& measured) {
    return fmt::format("{:.{}f}", measured.at(key).get<double>(), decimals);
  };
}

Json preempted(const Json& measured) {
  return fmt::format("{}@{}", measured.at("preemptions").get<std::int64_t>(),
                     measured.at("most_preempted_rank").get<int>());
}

Json slowest_rank(const Json& measured) {
  return fmt::format("{} ({:.0f}%) {}", measured.at("slowest_rank").get<int>(),
                     100 * measured.at("slowest_rank_share").get<double>(), measured.at("host").get<std::string>());
}

/// The columns of one placement's measurement, with its row as `row`.
std::vector<TextColumn> statistics_columns() {
  return {{"size", "", 14, field("/row/size_bytes")},
          {"type", "", 9, field("/row/datatype")},
          {"redop", "", 6, field("/row/reduction")},
          {"place", "", 5, field("/placement")},
          {"epochs", "", 6, field("/epochs")},
          {"samples", "", 7, field("/samples")},
          {"median", "", 9, field("/time_us_median")},
          {"low", "", 9, field("/time_us_interval/low_us")},
          {"high", "", 9, field("/time_us_interval/high_us")},
          {"min", "", 9, field("/time_us_min")},
          {"p95", "", 9, field("/time_us_p95")},
          {"p99", "", 9, field("/time_us_p99")},
          {"p99.9", "", 9, field("/time_us_p999")},
          {"max", "", 9, field("/time_us_max")},
          {"out", "", 5, field("/outliers")},
          {"late", "", 5, field("/late_starts")},
          {"drift%", "", 6, rounded("drift_percent", 1)},
          {"corr", "", 5, rounded("sign_autocorrelation", 2)},
          {"preempt", "", 7, preempted},
          {"chosen", "", 16, chosen},
          {"slowest rank", "", 0, slowest_rank}};
}

std::string explanation(Figure figure) {
  return fmt::format(
      "#\n# Statistics: times in us of one {}; low and high: 95 % interval of the median; preempt: involuntary context "
      "switches@rank with most; chosen: the library's algorithm/protocol/channels\n",
      figure == Figure::kCollective ? "operation" : "message");
}

}  // namespace

std::string statistics_table(const Context& context, std::span<const Row> rows) {
  const TextTable table(statistics_columns(), fitted);
  std::string text = explanation(context.figure) + table.titles();
  int shown = -1;
  for (const Row& row : rows) {
    if (context.groups.size() > 1 && row.group != shown) text += group_line(context, row.group);
    shown = row.group;
    for (Json& measured : placements(row)) {
      measured["host"] = host_of(context, row.group, measured.at("slowest_rank").get<int>());
      std::string line = table.line(measured);
      line.front() = '#';
      text += line;
    }
  }
  return text;
}

}  // namespace fabricbench
