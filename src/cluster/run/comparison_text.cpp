#include "cluster/run/comparison.h"

#include <algorithm>
#include <string_view>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/core/units.h"
#include "common/record/columns.h"
#include "common/record/json.h"

namespace fabricbench::baseline {
namespace {

using record::field;
using record::Json;
using record::Shown;
using record::TextTable;
using record::to_json;

constexpr std::size_t kMostNamed = 8;
constexpr double kMostPercent = 1000;
constexpr int kRatioWidth = 6;

/// With three decimals, as far as that says something.
std::string ratio_text(double ratio) {
  return ratio >= 0.01 && ratio < 10 ? fmt::format("{:.3f}", ratio) : fmt::format("{:.2g}", ratio);
}

/// A ratio of times.
Shown ratio(std::string_view path) {
  return [path](const Json& row) -> Json {
    const Json& value = row.at(std::string(path));
    return value.is_null() ? Json() : Json(ratio_text(value.get<double>()));
  };
}

/// Such as `3.4 %`.
Shown least_slowdown() {
  return [](const Json& row) -> Json {
    const Json& value = row.at("least_slowdown_percent");
    if (value.is_null()) return nullptr;
    const double percent = value.get<double>();
    return percent > kMostPercent ? "> 1000 %" : fmt::format("{:.1f} %", percent);
  };
}

TextTable row_table() {
  return {{{"size", "(B)", 12, field("/size_bytes")},
           {"row", "", 24, field("/row")},
           {"gate", "", 9, field("/gate")},
           {"usual", "(us)", 9, field("/usual_us")},
           {"from", "(us)", 9, field("/usual_us_low")},
           {"to", "(us)", 9, field("/usual_us_high")},
           {"now", "(us)", 9, field("/time_us_median")},
           {"ratio", "", kRatioWidth, ratio("ratio")},
           {"low", "", kRatioWidth, ratio("ratio_low")},
           {"high", "", kRatioWidth, ratio("ratio_high")},
           {"smallest", "slowdown", 9, least_slowdown()},
           {"verdict", "", 9, field("/verdict")}},
          readable};
}

std::string or_none(const std::string& text) { return text.empty() ? "nothing" : fmt::format("'{}'", text); }

std::string words_of(const Difference& difference) {
  return fmt::format("{} was {}, is {}", difference.key, or_none(difference.before), or_none(difference.now));
}

void add_differences(std::string_view title, const std::vector<Difference>& differences,
                     std::vector<std::string>& lines) {
  for (const Difference& each : differences) lines.push_back(fmt::format("{}: {}", title, words_of(each)));
}

void add_keys(std::string_view title, const std::vector<RowKey>& keys, std::vector<std::string>& lines) {
  if (keys.empty()) return;
  std::vector<std::string> words;
  for (std::size_t i = 0; i < std::min(keys.size(), kMostNamed); ++i) {
    words.push_back(size_and_words_of(keys[i]));
  }
  const std::string more =
      keys.size() > kMostNamed ? fmt::format(" and {} more", keys.size() - kMostNamed) : std::string();
  lines.push_back(fmt::format("{}: {}{}", title, fmt::join(words, "; "), more));
}

void add_rows(const BaselineComparison& comparison, std::vector<std::string>& lines) {
  if (comparison.rows.empty()) return;
  const TextTable table = row_table();
  lines.push_back(table.titles());
  lines.push_back(table.units());
  for (const RowComparison& row : comparison.rows) {
    Json json = to_json(row);
    json["row"] = words_of(row.key);
    lines.push_back(table.line(json));
  }
  for (std::string& line : lines) {
    while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.pop_back();
  }
}

}  // namespace

std::string words_of(const RowKey& key) {
  std::vector<std::string> words;
  for (const std::string& word : {key.subject, key.test, key.datatype, key.reduction}) {
    if (!word.empty()) words.push_back(word);
  }
  if (key.root >= 0) words.push_back(fmt::format("root {}", key.root));
  if (key.placement == "out_of_place") words.emplace_back("out");
  if (key.placement == "in_place") words.emplace_back("in");
  return fmt::format("{}", fmt::join(words, " "));
}

std::string size_and_words_of(const RowKey& key) {
  const std::string words = words_of(key);
  return words.empty() ? readable_bytes(key.size) : fmt::format("{} {}", readable_bytes(key.size), words);
}

std::vector<std::string> lines_of(const BaselineComparison& comparison, const std::string& name) {
  std::vector<std::string> lines;
  if (comparison.launches > 0) {
    lines.push_back(fmt::format("Baseline {}: {} comparable launch{}, {} judged", name, comparison.launches,
                                comparison.launches == 1 ? "" : "es", comparison.fresh));
  }
  add_rows(comparison, lines);
  for (const RowComparison& row : comparison.rows) {
    if (row.algorithm.empty()) continue;
    lines.push_back(fmt::format("Another algorithm: {} takes {}, took {}", size_and_words_of(row.key), row.algorithm,
                                row.algorithm_before));
  }
  if (comparison.launches > 0 && !comparison.days_known) {
    lines.emplace_back("All launches of the baseline are of one day: how days differ is unknown, so limits are wider");
  }
  for (const HistoryChange& change : comparison.changes) {
    lines.push_back(
        fmt::format("Since {:%F %R} UTC: {} takes {:.3f} times as long as before", fmt::gmtime(change.since),
                    change.key ? size_and_words_of(*change.key) : std::string("the median row"), change.ratio));
  }
  add_keys("Missing", comparison.missing, lines);
  add_keys("Not in the baseline", comparison.added, lines);
  add_differences("Differs", comparison.differences, lines);
  add_differences("Allowed", comparison.allowed, lines);
  add_differences("Also changed", comparison.circumstances, lines);
  lines.push_back(fmt::format("Baseline {}: {}", name, comparison.headline));
  return lines;
}

}  // namespace fabricbench::baseline
