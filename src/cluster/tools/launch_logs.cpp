#include "cluster/tools/launch_logs.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/hosts/host_folding.h"
#include "cluster/import/failure.h"
#include "cluster/import/import.h"
#include "cluster/import/labels.h"
#include "cluster/import/nccl_table.h"
#include "cluster/import/rate_units.h"
#include "cluster/import/text.h"
#include "common/core/error.h"
#include "common/core/statistics.h"

namespace fabricbench::cluster {
namespace {

using baseline::Launch;
using baseline::RowTimes;
using Words = std::vector<std::string_view>;

constexpr double kMicrosecond = 1e-6;

/// A log, and the place in it.
class Log {
 public:
  Log(std::string_view text, std::string name) : text_(text), name_(std::move(name)), lines_(text) {}

  [[nodiscard]] bool next() { return lines_.next(); }
  [[nodiscard]] std::string_view line() const { return trimmed(lines_.line()); }
  [[nodiscard]] std::size_t begin() const { return lines_.begin(); }
  [[nodiscard]] std::size_t end() const { return lines_.end(); }
  /// Refuses a line of figures that nothing ends: the file was cut off in it.
  void check_whole() const {
    if (!lines_.is_whole()) fail("the file ends within this line");
  }
  [[nodiscard]] std::string_view text() const { return text_; }

  [[noreturn]] void fail(const std::string& problem) const {
    throw Error(ExitStatus::kNotJudged, fmt::format("{}:{}: {}; give the log of a run that ended well", name_,
                                                    std::max<std::int64_t>(lines_.number(), 1), problem));
  }

 private:
  std::string_view text_;
  std::string name_;
  TextLines lines_;
};

void add(Launch& launch, std::string key, std::string value) {
  if (!value.empty()) launch.start.identity.emplace_back(std::move(key), std::move(value));
}

/// What follows `title` and a colon.
std::optional<std::string_view> value_of(std::string_view line, std::string_view title) {
  if (!line.starts_with(title)) return std::nullopt;
  std::string_view rest = trimmed(line.substr(title.size()));
  if (!rest.starts_with(':')) return std::nullopt;
  return trimmed(rest.substr(1));
}

/// Rows that were printed several times, as with `-N`, become one with their median.
void merge_rows(Launch& launch) {
  std::map<baseline::RowKey, std::size_t> place_of;
  std::vector<RowTimes> rows;
  for (RowTimes& row : launch.rows) {
    const auto [known, is_new] = place_of.try_emplace(row.key, rows.size());
    if (is_new) rows.push_back(row);
    rows[known->second].epochs.push_back(row.time);
  }
  for (RowTimes& row : rows) {
    const Seconds first = row.time;
    row.time = median(row.epochs);
    row.busbw *= first / row.time;
    if (row.epochs.size() == 1) row.epochs.clear();
  }
  launch.rows = std::move(rows);
}

/// `text`: what it was read from.
Launch finished(Launch launch, std::string_view text, std::time_t written) {
  merge_rows(launch);
  launch.text_hash = std::hash<std::string_view>()(text);
  launch.start.began = written;
  launch.start.rows = static_cast<std::int64_t>(launch.rows.size());
  return launch;
}

/// The output of one program of nccl-tests.
struct NcclTestsRun {
  std::string tool = "nccl-tests";
  std::string test{};
  std::vector<std::string> hosts{};  // of each rank
  std::set<std::string> ranks{};
  std::map<std::string, int> gpus{};
  NcclTable table{};
  bool is_coarse = false;  // rows are left out, whose bandwidths have too few digits
  bool has_ended = false;
  std::size_t begin = 0;        // in the log
  std::size_t behind_rows = 0;  // in the log
  Launch launch{};

  [[nodiscard]] bool has_begun() const { return !hosts.empty() || !launch.rows.empty() || has_ended; }
};

/// The time of an operation; nothing of a placement that was not run. Beside `cputime` it is what the bandwidth says,
/// where that has three digits.
std::optional<double> time_us_of(const NcclFigures& figures, std::int64_t size) {
  constexpr double kLeast = 1;  // GB/s, of two decimals
  if (figures.time_us || figures.algbw.value_or(0) < kLeast) return figures.time_us;
  return static_cast<double>(size) / (*figures.algbw * kGigabyte * kMicrosecond);
}

class NcclTestsLog {
 public:
  NcclTestsLog(Log& log, std::time_t written) : log_(log), written_(written) {}

  [[nodiscard]] std::vector<Launch> read() {
    while (log_.next()) take(log_.line());
    finish(log_.text().size());
    if (launches_.empty()) log_.fail("there is no table of results");
    return std::move(launches_);
  }

 private:
  void take(std::string_view line) {
    if (line.starts_with("# nccl-tests version") || line.starts_with("# rccl-tests version")) {
      finish(log_.begin());
      take_version(words_of(line.substr(1)));
    } else if (line.starts_with("# nThread ")) {
      if (run_.has_begun()) finish(log_.begin());
      take_settings(words_of(line));
    } else if (const auto test = value_of(line, "# Collective test starting")) {
      run_.test = *test;
    } else if (line.starts_with('#')) {
      take_comment(line);
    } else {
      take_row(line);
    }
  }

  void take_version(const Words& words) {
    run_.tool = words.front();
    for (const std::string_view word : words) {
      if (const auto at = word.find("ccl-library="); at != std::string_view::npos) {
        add(run_.launch, "library", std::string("NCCL ").append(word.substr(word.find('=') + 1)));
      }
    }
  }

  /// `# nThread 1 nGpus 8 minBytes 8 ...`. How often and how long is not compared.
  void take_settings(const Words& words) {
    for (std::size_t i = 1; i + 1 < words.size(); ++i) {
      if (words[i] == "nThread" || words[i] == "nGpus") {
        add(run_.launch, std::string(words[i]), std::string(words[i + 1]));
      }
    }
  }

  void take_comment(std::string_view line) {
    const Words words = words_of(line.substr(1));
    const auto on = std::find(words.begin(), words.end(), "on");
    const auto device = std::find(words.begin(), words.end(), "device");
    if (has(line, " Rank ") && words.end() - on > 1 && words.end() - device > 2) {
      if (!run_.ranks.emplace(words[1]).second) {
        log_.fail(fmt::format("rank {} appears twice: the program was built without MPI", words[1]));
      }
      run_.hosts.emplace_back(on[1]);
      ++run_.gpus[fmt::format("{}", fmt::join(device + 3, words.end(), " "))];
    } else if (has(line, "Out of bounds values")) {
      run_.has_ended = true;
      if (!has(line, " OK")) log_.fail(fmt::format("the data was wrong: '{}'", one_line(line)));
    } else if (has(line, "Avg bus bandwidth")) {
      run_.has_ended = true;
      if (has(line, "FAILED")) log_.fail(fmt::format("'{}'", one_line(line)));
    } else {
      run_.table.take_comment(line);
    }
  }

  void take_row(std::string_view line) {
    if (run_.has_ended || !run_.table.is_row(line)) return;
    run_.behind_rows = log_.end();
    const std::optional<NcclTableRow> found = run_.table.row(line);
    if (!found) log_.fail("the row is not complete");
    RowTimes row;
    row.key.size = static_cast<Bytes>(found->size);
    row.key.datatype = found->type;
    row.key.reduction = found->redop;
    row.key.root = found->root.value_or(-1);
    for (const NcclFigures& figures : found->placements) take_placement(row, figures);
  }

  void take_placement(RowTimes row, const NcclFigures& figures) {
    if (!figures.wrong.empty()) log_.fail(fmt::format("the data was wrong: {} wrong elements", figures.wrong));
    const std::optional<double> time = time_us_of(figures, static_cast<std::int64_t>(row.key.size));
    run_.is_coarse |= !time && figures.algbw;
    if (!time || !(*time > 0) || !figures.busbw) return;
    row.key.placement = figures.in_place ? "in_place" : "out_of_place";
    row.time = *time * kMicrosecond;
    row.busbw = *figures.busbw * kGigabyte;
    run_.launch.rows.push_back(std::move(row));
  }

  void finish(std::size_t end) {
    if (run_.has_begun()) {
      if (run_.has_ended && run_.launch.rows.empty() && run_.is_coarse) {
        log_.fail("cputime is the host's, and no bandwidth has three digits to tell the time of the operation");
      }
      if (!run_.has_ended || run_.launch.rows.empty()) {
        log_.fail(
            fmt::format("the run has no end: {}", why_it_failed(log_.text().substr(run_.begin, end - run_.begin))));
      }
      if (const std::string broken = how_it_broke_off(log_.text().substr(run_.behind_rows, end - run_.behind_rows));
          !broken.empty()) {
        log_.fail(broken);
      }
      add_identity();
      launches_.push_back(finished(std::move(run_.launch), log_.text().substr(run_.begin, end - run_.begin), written_));
    }
    run_ = {.tool = run_.tool, .begin = end};
  }

  void add_identity() {
    Launch& launch = run_.launch;
    add(launch, "program", fmt::format("{} {}", run_.tool, run_.test.empty() ? "log" : run_.test));
    if (run_.hosts.empty()) return;
    add(launch, "ranks", fmt::format("{}", run_.hosts.size()));
    const std::set<std::string> hosts(run_.hosts.begin(), run_.hosts.end());
    add(launch, "hosts", fold_hosts(std::vector(hosts.begin(), hosts.end())));
    std::vector<std::string> models;
    for (const auto& [model, count] : run_.gpus) models.push_back(fmt::format("{} x {}", count, model));
    add(launch, "gpus", fmt::format("{}", fmt::join(models, ", ")));
  }

  Log& log_;
  std::time_t written_;
  NcclTestsRun run_;
  std::vector<Launch> launches_;
};

/// A table of sizes and figures.
class SizeTable {
 public:
  /// The row in this line of the log, with its time, or else with its rate in bytes per second.
  void add_row(const Log& log, std::string_view size, double figure, bool is_rate) {
    log.check_whole();
    RowTimes row;
    row.key.size = static_cast<Bytes>(integer_in(size).value_or(0));
    row.time = is_rate ? static_cast<double>(row.key.size) / figure : figure;
    if (is_rate) row.busbw = figure;
    launch_.rows.push_back(std::move(row));
    behind_rows_ = log.end();
  }
  [[nodiscard]] Launch& launch() { return launch_; }

  [[nodiscard]] std::vector<Launch> finish(const Log& log, std::time_t written) {
    if (launch_.rows.empty()) log.fail(fmt::format("there is no row of results: {}", why_it_failed(log.text())));
    if (const std::string end = how_it_broke_off(log.text().substr(behind_rows_)); !end.empty()) log.fail(end);
    return {finished(std::move(launch_), log.text(), written)};
  }

 private:
  Launch launch_;
  std::size_t behind_rows_ = 0;  // in the log
};

/// `# OSU MPI Bandwidth Test v7.4`, `# Size      Bandwidth (MB/s)`, and rows; or `Latency (us)`, `Avg Latency(us)`.
std::vector<Launch> read_osu_log(Log& log, std::time_t written) {
  SizeTable table;
  bool in_table = false;
  bool is_rate = false;
  while (log.next()) {
    const std::string_view line = log.line();
    const Words words = words_of(line);
    if (line.starts_with("# OSU ")) {
      if (!table.launch().start.identity.empty()) log.fail("a second program begins; give a log of one");
      add(table.launch(), "program", one_line(line.substr(2)));
    } else if (line.starts_with("# Datatype")) {
      add(table.launch(), "datatype", one_line(words.back()));
    } else if (line.starts_with("# Size")) {
      is_rate = has(line, "(MB/s)");
      if (!is_rate && !has(line, "(us)")) log.fail(fmt::format("'{}' names neither (MB/s) nor (us)", one_line(line)));
      in_table = true;
    } else if (in_table && words.size() > 1 && integer_in(words[0])) {
      const auto figure = number_in(words[1]);
      if (!figure || !(*figure > 0)) log.fail("the row has no figure");
      if (words.back() == "Fail") log.fail("the data was wrong");
      table.add_row(log, words[0], *figure * (is_rate ? kMegabyte : kMicrosecond), is_rate);
    }
  }
  return table.finish(log, written);
}

/// The column of figures, and what one of them is worth.
struct PerftestColumn {
  std::size_t column = 0;
  double worth = 0;
  bool is_rate = false;
};

/// Of `#bytes #iterations BW peak[MB/sec] BW average[MB/sec] MsgRate[Mpps]`, or of latencies, whose typical one is the
/// median.
PerftestColumn perftest_column(const Log& log, std::string_view line) {
  if (has(line, "average[Gb/sec]")) return {3, kGigabit, true};
  if (has(line, "average[MB/sec]") || has(line, "average[MiB/sec]"))
    return {3, kMebibyte, true};  // it calls them MB too
  if (has(line, "t_typical[usec]")) return {4, kMicrosecond, false};
  log.fail(fmt::format("'{}' names no figure that is known", one_line(line)));
}

std::vector<Launch> read_perftest_log(Log& log, std::time_t written) {
  static const std::map<std::string_view, std::string_view> settings = {
      {"Device", "device"}, {"Transport type", "transport"}, {"Connection type", "connection"},
      {"Mtu", "mtu"},       {"Link type", "link"},           {"Number of qps", "qps"}};
  SizeTable table;
  std::optional<PerftestColumn> column;
  std::size_t longest = 0;  // of the lines of dashes, which are alike
  bool has_ended = false;
  while (log.next()) {
    const std::string_view line = log.line();
    const Words words = words_of(line);
    if (line.ends_with(" BW Test") || line.ends_with("Latency Test")) {
      if (!table.launch().start.identity.empty()) log.fail("a second program begins; give a log of one");
      add(table.launch(), "program", fmt::format("perftest {}", one_line(line)));
    } else if (has(line, "VALIDATION: FAILED")) {
      log.fail(fmt::format("the data was wrong: {}", one_line(line)));
    } else if (line.starts_with("#bytes")) {
      column = perftest_column(log, line);
    } else if (column && words.size() > 1 && integer_in(words[0]) && integer_in(words[1])) {
      const auto figure = words.size() > column->column ? number_in(words[column->column]) : std::nullopt;
      if (!figure || !(*figure > 0)) log.fail("the row has no figure");
      table.add_row(log, words[0], *figure * column->worth, column->is_rate);
      has_ended = false;
    } else if (line.starts_with("---")) {
      has_ended = line.size() >= longest;
      longest = std::max(longest, line.size());
    } else {
      for (const auto& [title, key] : settings) {
        const std::size_t at = line.find(title);
        const auto value = at == std::string_view::npos ? std::nullopt : value_of(line.substr(at), title);
        if (value && !value->empty()) add(table.launch(), std::string(key), std::string(words_of(*value).front()));
      }
    }
  }
  if (!table.launch().rows.empty() && !has_ended) log.fail("the closing line of dashes is missing");
  return table.finish(log, written);
}

}  // namespace

bool is_launch_log(std::string_view text) {
  const auto kind = recognise(text);
  return kind == ImportKind::kNcclTests || kind == ImportKind::kOsu || kind == ImportKind::kPerftest;
}

std::vector<Launch> launches_in_log(std::string_view text, const std::string& name, std::time_t written) {
  const PlainLog plain = without_labels(text);
  Log log(plain.text, name);
  if (!plain.label.empty()) log.fail(fmt::format("'{}' stands before lines, which is no known label", plain.label));
  switch (recognise(text).value_or(ImportKind::kCsv)) {
    case ImportKind::kNcclTests: return NcclTestsLog(log, written).read();
    case ImportKind::kOsu: return read_osu_log(log, written);
    case ImportKind::kPerftest: return read_perftest_log(log, written);
    default: log.fail("it is no log of nccl-tests, OSU or perftest");
  }
}

}  // namespace fabricbench::cluster
