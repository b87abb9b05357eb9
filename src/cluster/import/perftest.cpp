#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cluster/import/imported.h"
#include "cluster/import/logs.h"
#include "cluster/import/text.h"
#include "cluster/import/tool_runs.h"
#include "common/core/error.h"

namespace fabricbench::cluster {
namespace {

/// A run by its title, `RDMA_Write Bidirectional BW Test` or `RDMA_Write_BW_Test`.
ToolRun run_titled(std::string_view title, std::int64_t line) {
  ToolRun run;
  run.program = fmt::format("perftest {}", one_line(title));
  if (title.ends_with("BW Test") || has(title, "BW_Test")) {
    run.test = has(title, "RDMA_Write")  ? "ib_write_bw"
               : has(title, "RDMA_Read") ? "ib_read_bw"
               : has(title, "Send")      ? "ib_send_bw"
                                         : "";
  }
  if (run.test.empty()) {
    run.other_test = {line, fmt::format("'{}' is not ib_write_bw, ib_read_bw or ib_send_bw", one_line(title))};
  }
  run.both_ways = has(title, "Bidirectional");
  run.backwards = run.test == "ib_read_bw" && !run.both_ways;
  return run;
}

/// The title of a column of figures, and what 1 of these is worth.
struct Title {
  std::string_view words;
  double worth = 0;
  bool is_rate = true;
};

constexpr std::array<Title, 4> kTitles = {{{"average[MB/sec]", kMebibyte},  // it calls them MB too
                                           {"average[MiB/sec]", kMebibyte},
                                           {"average[Gb/sec]", kGigabit},
                                           {"t_typical[usec]", kMicrosecond, false}}};  // the median

/// Of `#bytes #iterations BW peak[MB/sec] BW average[MB/sec] MsgRate[Mpps]`, where `BW` and the next word are one
/// title; nothing where none is known.
FigureColumn figures_below(std::string_view line) {
  auto words = words_of(line);
  std::erase(words, "BW");
  for (const Title& title : kTitles) {
    const std::size_t place = place_of(words, title.words);
    if (place < words.size()) return {place, title.worth, title.is_rate};
  }
  return {};
}

/// Settings that have to be equal where runs are compared, as perftest prints them; the keys are ours.
constexpr auto kSettings = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"Transport type", "transport"},
    {"Connection type", "connection"},
    {"Mtu", "mtu"},
    {"Link type", "link"},
    {"Number of qps", "qps"},
});

/// What follows `title` and a colon in a line of settings, such as `Dual-port : OFF  Device : mlx5_0`; or nothing.
std::string_view setting_in(std::string_view line, std::string_view title) {
  const std::size_t at = line.find(title);
  if (at == std::string_view::npos) return "";
  const auto words = words_of(line.substr(at + title.size()));
  return words.size() > 1 && words[0] == ":" ? words[1] : "";
}

class PerftestReader {
 public:
  explicit PerftestReader(std::string_view text) : lines_(text) {}

  std::vector<ToolRun> read() {
    while (lines_.next()) take(trimmed(lines_.line()));
    if (runs_.empty()) runs_.emplace_back();
    return std::move(runs_);
  }

 private:
  void take(std::string_view line) {
    if (line.ends_with(" BW Test") || line.ends_with("Latency Test")) {
      begin_run(line);
    } else if (line.starts_with("#bytes") && lines_.is_whole()) {
      begin_table(line);
    } else if (line.starts_with("---")) {
      longest_ = std::max(longest_, line.size());
      if (!runs_.empty() && !runs_.back().rows.empty()) runs_.back().has_ended |= line.size() == longest_;
    } else if (!runs_.empty()) {
      take_line(runs_.back(), line);
    }
  }

  void begin_run(std::string_view line) {
    column_ = {};
    const std::size_t begin = runs_.empty() ? 0 : lines_.begin();
    runs_.push_back(run_titled(line, lines_.number()));
    runs_.back().must_end = true;
    runs_.back().begin = begin;
  }

  void begin_table(std::string_view line) {
    if (runs_.empty()) runs_.emplace_back().must_end = true;
    column_ = figures_below(line);
    if (column_.place == 0) {
      runs_.back().unknown_unit = {lines_.number(), fmt::format("'{}' names no figure that is known", one_line(line))};
    }
  }

  void take_line(ToolRun& run, std::string_view line) {
    const auto words = words_of(line);
    if (!wrong_data_in(line).empty()) {
      run.wrong = {lines_.number(), one_line(line)};
    } else if (column_.place > 0) {
      // Behind the table of both ends, --report-both has one of each.
      const bool is_row = words.size() > 1 && integer_in(words[0]) && integer_in(words[1]);
      if (is_row && !run.has_ended) take_row(run, lines_, column_);
    } else {
      for (const auto& [title, key] : kSettings) {
        if (const auto value = setting_in(line, title); !value.empty()) run.settings.emplace_back(key, value);
      }
      if (const auto device = setting_in(line, "Device"); !device.empty()) run.rail = device;
    }
  }

  TextLines lines_;
  std::vector<ToolRun> runs_;
  FigureColumn column_;      ///< in the table of the current run
  std::size_t longest_ = 0;  ///< of the lines of dashes, which are alike
};

using nlohmann::json;

/// With --raw_qos, one key has no quotation marks.
json parse_perftest(std::string_view text) {
  std::string repaired(text);
  if (const std::size_t at = repaired.find("\nsl: "); at != std::string::npos) repaired.replace(at, 5, "\n\"sl\": ");
  return json::parse(repaired, nullptr, false);
}

json value_of(const json& root, const char* object, const char* key) {
  const auto found = root.find(object);
  return found != root.end() && found->is_object() ? found->value(key, json()) : json();
}

std::string text_of(const json& root, const char* object, const char* key) {
  const json value = value_of(root, object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

/// The file names no unit, but also has the number of messages: of the two units, that in which both agree.
std::optional<double> unit_of(double average, double million_messages, double size) {
  const double rate = million_messages * 1e6 * size;
  for (const double unit : {kMebibyte, kGigabit}) {
    if (rate > 0 && std::abs(std::log(average * unit / rate)) < 1) return unit;
  }
  return std::nullopt;
}

class PerftestJsonReader {
 public:
  explicit PerftestJsonReader(const ImportSource& source) : source_(source) {}

  Imported read() {
    for (const JsonDocument& document : json_documents(source_.text)) take(document);
    if (!runs_.empty()) add_runs(found_, source_, runs_);
    return std::move(found_);
  }

 private:
  void take(const JsonDocument& document) {
    const auto lines = std::count(source_.text.data(), document.text.data(), '\n');
    const json root = parse_perftest(document.text);
    if (root.is_discarded()) return found_.note(lines + 1, "the JSON is broken or cut off");
    const std::string title = text_of(root, "test_info", "test");
    ToolRun run = run_titled(title, lines + 1);
    if (run.test.empty()) return found_.notes.push_back(run.other_test);
    const json average = value_of(root, "results", "BW_average");
    const json size = value_of(root, "results", "MsgSize");
    const json messages = value_of(root, "results", "MsgRate");
    if (!average.is_number() || !size.is_number_integer()) {
      return found_.note(lines + 1, "it has no size and average bandwidth");
    }
    const auto bytes = size.get<std::int64_t>();
    const double rate = messages.is_number() ? messages.get<double>() : 0;
    const double unit = unit_of(average.get<double>(), rate, static_cast<double>(bytes)).value_or(source_.unit);
    if (unit == 0) {
      throw UsageError(
          fmt::format("{}:{}: neither BW_average nor MsgRate tells its unit; give --unit, such as "
                      "--unit Gb/s where it ran with --report_gbits",
                      source_.path, lines + 1));
    }
    run.has_ended = true;
    run.rail = text_of(root, "test_info", "Device");
    run.rows = {{bytes, lines + 1, average.get<double>() * unit, ""}};
    run.begin = document.begin;
    add(std::move(run));
  }

  /// The sizes of one run may be in a document each.
  void add(ToolRun run) {
    const bool goes_on = !runs_.empty() && runs_.back().test == run.test && runs_.back().both_ways == run.both_ways &&
                         runs_.back().rail == run.rail &&
                         runs_.back().rows.back().size_bytes < run.rows.front().size_bytes;
    if (goes_on) {
      runs_.back().rows.push_back(run.rows.front());
    } else {
      runs_.push_back(std::move(run));
    }
  }

  const ImportSource& source_;
  Imported found_;
  std::vector<ToolRun> runs_;
};

}  // namespace

std::vector<ToolRun> perftest_runs(std::string_view text) { return PerftestReader(text).read(); }

Imported read_perftest_json(const ImportSource& source) { return PerftestJsonReader(source).read(); }

}  // namespace fabricbench::cluster
