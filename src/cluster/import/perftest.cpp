#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/import/pair_runs.h"
#include "cluster/import/perftest_test.h"
#include "cluster/import/rate_units.h"
#include "cluster/import/readers.h"
#include "cluster/import/text.h"
#include "common/core/error.h"

namespace fabricbench::cluster {
namespace {

/// The column of average bandwidths, and bytes per second of 1.
struct AverageColumn {
  std::size_t place = 0;
  double unit = 0;
};

/// Of `#bytes #iterations BW peak[MB/sec] BW average[MB/sec] MsgRate[Mpps]`, where `BW` and the next word are one
/// title.
AverageColumn average_column(const ImportSource& source, const TextLines& lines) {
  auto titles = words_of(lines.line());
  std::erase(titles, "BW");
  for (std::size_t place = 0; place < titles.size(); ++place) {
    const std::string_view title = titles[place];
    if (title == "average[MB/sec]" || title == "average[MiB/sec]") return {place, kMebibyte};  // it calls them MB too
    if (title == "average[Gb/sec]") return {place, kGigabit};
  }
  throw UsageError(fmt::format("{}:{}: '{}' names no known unit; run it with --report_gbits", source.path,
                               lines.number(), one_line(lines.line())));
}

/// What follows `title` and a colon in a line of settings, such as `Dual-port : OFF  Device : mlx5_0`; or nothing.
std::string_view setting_in(std::string_view line, std::string_view title) {
  const std::size_t at = line.find(title);
  if (at == std::string_view::npos) return "";
  const auto words = words_of(line.substr(at + title.size()));
  return words.size() > 1 && words[0] == ":" ? words[1] : "";
}

/// What --data_validation prints of wrong data.
constexpr std::string_view kWrongData = "VALIDATION: FAILED";

class PerftestReader {
 public:
  explicit PerftestReader(const ImportSource& source) : source_(source) {}

  Imported read() {
    for (TextLines lines(source_.text); lines.next();) take(lines);
    if (runs_.empty() && !other_test_) runs_.emplace_back();
    if (!runs_.empty()) add_pair_runs(found_, source_, runs_);
    return std::move(found_);
  }

 private:
  void take(const TextLines& lines) {
    const std::string_view line = trimmed(lines.line());
    found_.of_server |= has(line, "Waiting for client to connect");
    if (has(line, kWrongData) && !runs_.empty()) runs_.back().wrong = one_line(line);
    if (line.ends_with(" BW Test") || line.ends_with("Latency Test")) {
      begin_run(lines);
    } else if (line.starts_with("#bytes") && lines.is_whole() && !other_test_) {
      if (runs_.empty()) runs_.emplace_back();
      average_ = average_column(source_, lines);
    } else if (average_ && line.starts_with("---")) {
      runs_.back().has_ended = !runs_.back().rows.empty();
    } else if (average_) {
      take_row(lines, words_of(line));
    } else if (const auto device = setting_in(line, "Device"); !device.empty() && !runs_.empty()) {
      runs_.back().rail = device;
    }
  }

  void begin_run(const TextLines& lines) {
    const std::string_view line = trimmed(lines.line());
    const std::string test = line.ends_with("Latency Test") ? "" : perftest_test_of(line);
    average_.reset();
    other_test_ = test.empty();
    if (other_test_) {
      return found_.note(lines.number(),
                         fmt::format("'{}' is not ib_write_bw, ib_read_bw or ib_send_bw", one_line(line)));
    }
    PairRun run;
    run.test = test;
    run.both_ways = has(line, "Bidirectional");
    run.backwards = test == "ib_read_bw" && !run.both_ways;
    run.begin = runs_.empty() ? 0 : lines.begin();
    runs_.push_back(std::move(run));
  }

  void take_row(const TextLines& lines, const std::vector<std::string_view>& words) {
    if (words.size() < 2 || !integer_in(words[0]) || !integer_in(words[1])) return;  // a launcher's
    PairRun& run = runs_.back();
    const auto average = words.size() > average_->place ? number_in(words[average_->place]) : std::nullopt;
    run.behind_rows = lines.end();
    if (!lines.is_whole()) {
      run.cut_line = lines.number();
    } else if (!average) {
      found_.note(lines.number(), "a row of the table has no average bandwidth, and is left out");
    } else if (!run.has_ended) {  // behind the table of both ends, --report-both has one of each
      run.rows.push_back({*integer_in(words[0]), lines.number(), *average * average_->unit, ""});
    }
  }

  const ImportSource& source_;
  Imported found_;
  std::vector<PairRun> runs_;
  std::optional<AverageColumn> average_;  ///< in the table of the current run
  bool other_test_ = false;               ///< the current one
};

}  // namespace

Imported read_perftest(const ImportSource& source) { return PerftestReader(source).read(); }

}  // namespace fabricbench::cluster
